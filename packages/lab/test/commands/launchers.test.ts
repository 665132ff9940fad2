import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { freePort } from '@redline/services';
import { findEndpoint } from '../../src/load/endpoint.ts';
import { finished, Workbench } from './run-cli.ts';
import { until } from '@redline/services/until';

const needsProc = process.platform === 'linux' ? false : '/proc is of Linux';

const app = `
require('node:http').createServer(function listener(request, response) {
  response.end('ok');
}).listen(process.env.PORT);`;

/** Runs app.cjs, and restarts it with the environment that a launcher sends, as PM2's daemon does. */
const daemon = `
const { spawn } = require('node:child_process');
let app = spawn(process.execPath, ['app.cjs'], { stdio: 'ignore' });
require('node:net').createServer((socket) => {
  let text = '';
  socket.on('data', (chunk) => (text += chunk));
  socket.on('end', () => {
    if (text === '') return socket.end();
    const env = JSON.parse(text);
    app.kill('SIGKILL');
    app = spawn(process.execPath, ['app.cjs'], { stdio: 'ignore', env });
    socket.end('done');
  });
}).listen(process.env.DAEMON_SOCKET ?? 'daemon.sock');`;

const launcher = `
const { existsSync } = require('node:fs');
const { connect } = require('node:net');
const { spawn } = require('node:child_process');
const path = process.env.DAEMON_SOCKET ?? 'daemon.sock';
if (!existsSync(path)) {
  spawn(process.execPath, ['daemon.cjs'], { detached: true, stdio: 'ignore' }).unref();
}
(function ask() {
  const socket = connect(path, () => socket.end(JSON.stringify(process.env)));
  socket.on('error', () => setTimeout(ask, 20));
  socket.on('data', () => {});
  socket.on('close', (failed) => failed || (process.env.STAYS && setInterval(() => {}, 1000)));
})();`;

/** The same over another way that no preload sees: its environment is in a file. */
const quietLauncher = `
const { renameSync, writeFileSync } = require('node:fs');
writeFileSync('wanted.tmp', JSON.stringify(process.env));
renameSync('wanted.tmp', 'wanted.json');
setInterval(() => {}, 1000);`;
const watchingDaemon = `
const { spawn } = require('node:child_process');
const { readFileSync, rmSync } = require('node:fs');
let app = spawn(process.execPath, ['app.cjs'], { stdio: 'ignore' });
setInterval(() => {
  try {
    const env = JSON.parse(readFileSync('wanted.json', 'utf8'));
    rmSync('wanted.json');
    app.kill('SIGKILL');
    app = spawn(process.execPath, ['app.cjs'], { stdio: 'ignore', env });
  } catch {}
}, 20);`;

function workbench(t: TestContext): Workbench {
  const bench = new Workbench(t);
  bench.write('app.cjs', app);
  bench.write('daemon.cjs', daemon);
  bench.write('launcher.cjs', launcher);
  bench.write('package.json', '{"scripts":{"start":"node launcher.cjs"}}');
  return bench;
}

/** Starts the daemon of the user, with its app. */
async function live(t: TestContext, bench: Workbench): Promise<void> {
  const port = await freePort();
  const env = { ...process.env, PORT: String(port) };
  const child = spawn(process.execPath, ['daemon.cjs'], {
    cwd: bench.folder,
    env,
    stdio: 'ignore',
  });
  t.after(() => {
    for (const pid of processesIn(bench.folder)) process.kill(pid, 'SIGKILL');
    child.kill('SIGKILL');
  });
  await until('the app listens', () => findEndpoint(port));
}

function processesIn(folder: string): number[] {
  return (
    readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid > 0 && pid !== process.pid && (environment(pid) ?? '') !== '')
      // After the test the folder is gone, and the link says so.
      .filter((pid) => cwdOf(pid)?.replace(' (deleted)', '') === folder)
  );
}

function cwdOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
}

function environment(pid: number): string | undefined {
  try {
    return readFileSync(join('/proc', String(pid), 'environ'), 'latin1');
  } catch {
    return undefined;
  }
}

/** Each process of the folder with its environment, which is long: its hash says whether it is the same. */
function processes(bench: Workbench): Record<number, string> {
  const hashOf = (pid: number): string =>
    createHash('sha256')
      .update(environment(pid) ?? '')
      .digest('hex');
  return Object.fromEntries(processesIn(bench.folder).map((pid) => [pid, hashOf(pid)]));
}

const shortest: Record<string, string[]> = {
  try: ['--restarts', '1'],
  doctor: [],
  bench: ['URL', '--restarts', '1', '--blocks', '1', '--warmup', '0'],
  flame: ['URL', '--seconds', '0.3', '--warmup', '0'],
  stairs: ['URL', '--seconds', '0.3', '--warmup', '0'],
};

describe('An app that a daemon of the user runs', { skip: needsProc }, () => {
  for (const [name, options] of Object.entries(shortest)) {
    test(`is left as it is by redline ${name}, where the command hands its environment to the daemon`, async (t) => {
      const bench = workbench(t);
      await live(t, bench);
      const before = processes(bench);
      assert.equal(Object.keys(before).length, 2);
      const url = `http://127.0.0.1:${await freePort()}/`;
      const typed = [name, ...options.map((word) => (word === 'URL' ? url : word))];
      const command = name === 'try' ? ['npm', 'start'] : [process.execPath, 'launcher.cjs'];
      const { code, stderr } = await bench.run([...typed, '--', ...command]);
      assert.equal(code, 1, stderr);
      assert.match(
        stderr,
        /about to send its environment to .*daemon\.sock, and was ended before\..* -- node FILE\. \(ERR_REDLINE_LAUNCHER\)/,
      );
      assert.deepEqual(processes(bench), before);
    });
  }

  test('is named where no preload could see how it was handed over', async (t) => {
    const bench = workbench(t);
    bench.write('launcher.cjs', quietLauncher);
    bench.write('daemon.cjs', watchingDaemon);
    await live(t, bench);
    const { code, stderr } = await bench.run(['try', '--', 'npm', 'start']);
    assert.equal(code, 1, stderr);
    assert.match(
      stderr,
      /process \d+ runs with its environment now, started by a daemon .* Restart that app .*\(ERR_REDLINE_LAUNCHER\)/,
    );
    // The app of the user is not ours to end.
    assert.equal(Object.keys(processes(bench)).length, 2);
  });
});

describe('A daemon that the command brings up itself', { skip: needsProc }, () => {
  for (const signal of ['SIGINT', 'SIGKILL'] as const) {
    test(`ends with a redline that gets ${signal}`, async (t) => {
      const bench = workbench(t);
      const url = `http://127.0.0.1:${await freePort()}/`;
      const args = ['bench', url, '--restarts', '50', '--', process.execPath, 'launcher.cjs'];
      const child = bench.start(args, { STAYS: '1' });
      const ended = finished(child);
      // The launcher, its daemon and the app.
      await until(
        'all three',
        () => processesIn(bench.folder).filter(isServer).length >= 3 || child.exitCode !== null,
      );
      child.kill(signal);
      await ended;
      // A process that is ending or starting its program has no environment for a moment.
      await until('their end', () => bench.survivors().length === 0);
    });
  }

  test('is no app, as long as the command does not stay', async (t) => {
    const bench = workbench(t);
    const { code, stderr } = await bench.run(['try', '--', 'npm', 'start']);
    assert.equal(code, 1, stderr);
    assert.match(stderr, /hands|handed/);
    assert.deepEqual(bench.survivors(), []);
  });
});

function isServer(pid: number): boolean {
  try {
    return /(launcher|daemon|app)\.cjs/.test(readFileSync(`/proc/${pid}/cmdline`, 'latin1'));
  } catch {
    return false;
  }
}
