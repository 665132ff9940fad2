import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { freePort } from '@redline/services';
import { finished, Workbench } from './run-cli.ts';
import { until } from '@redline/services/until';

const log = Array.from({ length: 50 }, () =>
  JSON.stringify({ req: { method: 'GET', url: '/' }, res: { statusCode: 200 } }),
).join('\n');

/** The commands whose load is started by one of the others' code are left to the exhaustive tests. */
const isExhaustive = process.env['REDLINE_COMMANDS'] === 'all';

/** Each under way for a minute, in a load that has begun once its server is asked. */
const commands: Record<string, string[]> = {
  try: ['--restarts', '50'],
  bench: ['--restarts', '50'],
  stairs: ['--seconds', '60'],
  ...(isExhaustive && {
    ladder: ['--restarts', '50'],
    flame: ['--seconds', '60'],
    deopts: ['--seconds', '60'],
    heap: ['--rounds', '60'],
    advise: ['--seconds', '60'],
  }),
};

const app = `
const { appendFileSync } = require('node:fs');
appendFileSync('pids', process.pid + '\\n');
process.on('SIGTERM', () => {});
let asked = 0;
require('node:http').createServer(function listener(request, response) {
  if (++asked === 30) appendFileSync('loaded', 'x');
  response.end('ok');
}).listen(process.env.PORT, process.env.HOST);
`;

describe('Ctrl-C ends, without a server or a load left behind,', () => {
  const cases = [
    ...Object.entries(commands).map(([command, options]) => [command, [command], options] as const),
    ['replay', ['replay', 'access.log'], ['--rps', '20']] as const,
  ];
  for (const [name, words, options] of cases) {
    test(`redline ${name}, and says one sentence`, async (t) => {
      const bench = new Workbench(t);
      bench.write('app.cjs', app);
      bench.write('loaded', '');
      bench.write('access.log', Array.from({ length: 100 }, () => log).join('\n'));
      const url = `http://127.0.0.1:${await freePort()}/`;
      const command = ['--', process.execPath, 'app.cjs'];
      const child = bench.start([...words, url, ...options, ...command]);
      const ended = finished(child);
      await until('the load', () => bench.read('loaded') !== '' || child.exitCode !== null);
      child.kill('SIGINT');
      const { code, stdout, stderr } = await ended;
      assert.equal(code, 130, stderr);
      assert.match(stderr, /(?:^|\n)Stopped; nothing is left running\.\n$/);
      assert.doesNotMatch(stderr, /\n\s+at .*:\d+:\d+/);
      assert.equal(stdout, '');
      assert.deepEqual(bench.survivors(), []);
    });
  }

  for (const command of [
    ['top', '-'],
    ['replay', '-', 'http://127.0.0.1:9'],
  ]) {
    test(`redline ${command.join(' ')} while it waits for standard input`, async (t) => {
      const bench = new Workbench(t);
      const child = bench.start(command, {}, 'pipe');
      t.after(() => child.stdin!.destroy());
      const ended = finished(child);
      // Handlers of signals are there once it is known what was asked.
      if (process.platform === 'linux')
        await until('its title', () => titleOf(child.pid!) === `redline ${command[0]}`);
      // More than a pipe holds: some of it has been read when it is written.
      const lines = `${log}\n`.repeat(2 ** 20 / log.length) + log.slice(0, 10);
      await new Promise((written) => child.stdin!.write(lines, written));
      child.kill('SIGINT');
      const { code, stderr } = await ended;
      assert.equal(code, 130, stderr);
      assert.match(stderr, /Stopped; nothing is left running\.\n$/);
    });
  }
});

function titleOf(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0', 1)[0]!.trim();
}
