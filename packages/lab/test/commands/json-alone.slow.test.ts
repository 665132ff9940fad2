import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { freePort } from '@redline/services';
import { Workbench } from './run-cli.ts';

const app = `require('node:http')
  .createServer((request, response) => response.end('{"items":[1,2,3]}'))
  .listen(process.env.PORT, process.env.HOST);`;

const line = (at: number): string =>
  `1.2.3.4 - - [10/Oct/2026:13:55:${String(at).padStart(2, '0')} +0000] "GET /users/${at} HTTP/1.1" 200 23 "-" "curl" 0.401\n`;

function project(t: ConstructorParameters<typeof Workbench>[0]): Workbench {
  const bench = new Workbench(t);
  bench.writeConfig({ variants: [bench.variant('app'), bench.variant('other')] });
  bench.write('package.json', '{"name":"app"}');
  bench.write('app.cjs', app);
  bench.write('access.log', [1, 2, 3].map(line).join(''));
  bench.write(
    'idea.cjs',
    "module.exports = { name: 'idea', before: (n) => String(n), after: (n) => `${n}`, inputs: [[1], [2]] };",
  );
  return bench;
}

const shortly = ['--seconds', '1', '--warmup', '0', '--', process.execPath, 'app.cjs'];

/** The command lines, each with the shortest measurement it takes. */
const asked: Record<string, (url: string) => string[]> = {
  top: () => ['top', 'access.log'],
  doctor: () => ['doctor'],
  'doctor of a running app': (url) => ['doctor', url, ...shortly],
  bench: () => ['bench'],
  'bench with a limit': () => ['bench', '--fail-if-slower', '90%'],
  ladder: () => ['ladder'],
  flame: (url) => ['flame', url, ...shortly],
  deopts: (url) => ['deopts', url, ...shortly],
  replay: (url) => ['replay', 'access.log', url, '--', process.execPath, 'app.cjs'],
  stairs: (url) => [
    'stairs',
    url,
    '--seconds',
    '2',
    '--warmup',
    '0',
    '--',
    process.execPath,
    'app.cjs',
  ],
};

describe('--json - leaves standard output to the JSON in', () => {
  for (const [name, wordsOf] of Object.entries(asked)) {
    test(name, async (t) => {
      const bench = project(t);
      const words = wordsOf(`http://127.0.0.1:${await freePort()}/`);
      const dashes = words.indexOf('--');
      const at = dashes < 0 ? words.length : dashes;
      const { code, stdout, stderr } = await bench.run(words.toSpliced(at, 0, '--json', '-'));
      // With one slice, `other` may seem to be beyond the limit.
      assert.ok(code === 0 || (code === 1 && words.includes('--fail-if-slower')), stderr);
      const { command, runId } = JSON.parse(stdout) as { command: string; runId: string };
      assert.equal(command, words[0]);
      assert.match(runId, /^\w+$/);
      assert.ok(stderr.length > 0, 'the report for people');
    });
  }
});

test('two files in standard output are refused before anything is measured', async (t) => {
  const { code, stdout, stderr } = await project(t).run(['bench', '--json', '-', '--md', '-']);
  assert.deepEqual([code, stdout], [2, '']);
  assert.match(
    stderr,
    /^redline: --json - and --md - both write to standard output: .*ERR_REDLINE_OPTION/,
  );
});
