import assert from 'node:assert/strict';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { DoctorResult } from '../../src/doctor/result.ts';
import { Workbench } from './run-cli.ts';

describe('redline doctor', () => {
  test('says what it found, where, with a diff that git applies, and changes nothing', async (t) => {
    const bench = new Workbench(t);
    bench.write('package.json', '{"name":"terms","scripts":{"start":"node app.mjs"}}\n');
    bench.write(
      'app.mjs',
      `import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
createServer(async (request, response) => {
  const text = readFileSync('terms.txt', 'utf8'); // password=hunter2
  response.end(text);
}).listen(process.env.PORT);
`,
    );
    const before = bench.read('app.mjs');
    const { code, stdout, stderr } = await bench.run([
      'doctor',
      '--json',
      'out/r.json',
      '--md',
      'out/r.md',
      '--html',
      'out/r.html',
    ]);
    assert.equal(code, 0, stderr);
    const { findings, title, app } = JSON.parse(bench.read('out/r.json')) as DoctorResult;
    assert.deepEqual([title, app], ['terms', { files: 1, entry: 'app.mjs' }]);
    assert.deepEqual(
      findings.map(({ rule, file, line, sure }) => `${rule} ${file}:${line} ${sure}`),
      ['sync-on-request app.mjs:4 certain', 'node-http app.mjs:3 likely'],
    );
    assert.match(findings[0]!.diff, /^\+ {2}const text = await readFile\('terms\.txt', 'utf8'\);/m);
    assert.match(findings[1]!.diff, /^\+.*node --import @redline\/http\/register app\.mjs/m);
    assert.match(stdout, /^DOCTOR {3}terms +1 certain, 1 likely · \d/m);
    assert.match(stdout, /^ {4}app\.mjs:4:16 +sync-on-request$/m);
    assert.match(bench.read('out/r.md'), /^```diff\n--- a\/app\.mjs\n\+\+\+ b\/app\.mjs$/m);
    for (const name of ['out/r.json', 'out/r.md', 'out/r.html']) {
      assert.doesNotMatch(bench.read(name), /hunter2/, name);
    }
    assert.equal(bench.read('app.mjs'), before);
    assert.deepEqual(readdirSync(bench.folder).toSorted(), [
      'app.mjs',
      'out',
      'package.json',
      'pids',
    ]);
  });

  test('reads what was built where a package has no source, and says so where it found no code', async (t) => {
    const bench = new Workbench(t);
    mkdirSync(join(bench.folder, 'dist'));
    bench.write('package.json', '{"name":"published","scripts":{"dev":"tsx src/main.ts"}}\n');
    bench.write(
      'dist/server.js',
      "const fs = require('node:fs');\nrequire('node:http').createServer((req, res) => res.end(fs.readFileSync('a'))).listen(0);\n",
    );
    // A plugin by a name that only the running app knows.
    bench.write('dist/main.js', "require('./server.js');\nrequire(process.env.PLUGIN);\n");
    const none = await bench.run(['doctor', '--json', 'r.json', '--md', 'r.md']);
    assert.equal(none.code, 0, none.stderr);
    assert.match(none.stdout, /^DOCTOR {3}published +no code found · /m);
    assert.match(none.stdout, /No code was read: .*redline\s+doctor\s+-- node dist\/main\.js/s);
    assert.doesNotMatch(none.stdout + bench.read('r.md'), /Nothing that these rules/);
    bench.write('package.json', '{"name":"published","scripts":{"start":"node dist/main.js"}}\n');
    const { code, stderr } = await bench.run(['doctor', '--json', 'r.json']);
    assert.equal(code, 0, stderr);
    const { app, findings } = JSON.parse(bench.read('r.json')) as DoctorResult;
    assert.deepEqual(app, { files: 2, entry: 'dist/main.js' });
    assert.ok(
      findings.some(({ rule, file }) => rule === 'sync-on-request' && file === 'dist/server.js'),
    );
  });

  test('refuses a folder that does not exist', async (t) => {
    const { code, stderr } = await new Workbench(t).run(['doctor', '--cwd', 'gone']);
    assert.equal(code, 2);
    assert.match(stderr, /--cwd "gone" does not exist\. \(ERR_REDLINE_OPTION\)/);
  });
});
