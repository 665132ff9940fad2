import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
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

  test('refuses a folder that does not exist', async (t) => {
    const { code, stderr } = await new Workbench(t).run(['doctor', '--cwd', 'gone']);
    assert.equal(code, 2);
    assert.match(stderr, /--cwd "gone" does not exist\. \(ERR_REDLINE_OPTION\)/);
  });
});
