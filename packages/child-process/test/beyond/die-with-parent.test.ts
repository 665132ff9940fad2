import assert from 'node:assert/strict';
import { once } from 'node:events';
import { spawn as nodeSpawn } from 'node:child_process';
import { describe, test } from 'node:test';
import { engine, spawn } from '../../src/index.ts';
import { alive, newMark } from './trees.ts';
import { until } from '@redline/services/until';

const skip = engine().name === 'native' ? false : 'the native engine does not serve here';
const entry = JSON.stringify(new URL('../../src/index.ts', import.meta.url).href);

/** A server that starts children in every way there is, and prints when it has. */
function server(mark: string, options: string): string {
  const args = JSON.stringify([`60.${mark}`]);
  return `
    const { Worker } = require('node:worker_threads');
    import(${entry}).then(async ({ spawn, exec, execFile }) => {
      const options = ${options};
      spawn('sleep', ${args}, options);
      spawn('sleep', ${args}, { ...options, stdio: 'ignore', detached: true }).unref();
      execFile('sleep', ${args}, options, () => {});
      exec('exec sleep 60.${mark}', options, () => {});
      const program = "import(" + ${JSON.stringify(entry)} + ").then(({ spawn, spawnSync }) => {" +
        "spawn('sleep', ${args.replaceAll('"', "'")}, ${options.replaceAll('"', "'")}).on('spawn', () => {" +
        "require('node:worker_threads').parentPort.postMessage('started');" +
        "spawnSync('sleep', ${args.replaceAll('"', "'")}, ${options.replaceAll('"', "'")}); }); });";
      const worker = new Worker(program, { eval: true });
      worker.on('message', () => console.log('ready'));
    });`;
}

describe('dieWithParent', { skip, timeout: 600_000 }, () => {
  test('no child lives after kill -9 of its parent, in workers neither', async () => {
    const mark = newMark();
    const parent = nodeSpawn(
      process.execPath,
      ['--no-warnings', '-e', server(mark, '{ dieWithParent: true }')],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    await once(parent.stdout, 'data');
    // The parent's own command line has the mark, too.
    await until('all seven live', () => alive(mark).length === 7);
    parent.kill('SIGKILL');
    await once(parent, 'exit');
    await until('none lives', () => alive(mark).length === 0);
  });

  test('a child of a worker that has ended lives on', async () => {
    const mark = newMark();
    const program = `
      const { Worker } = require('node:worker_threads');
      const inner = "import(" + ${JSON.stringify(entry)} + ").then(({ spawn }) => {" +
        "spawn('sleep', ['60.${mark}'], { dieWithParent: true, stdio: 'ignore' }).on('spawn', () => process.exit()); });";
      new Worker(inner, { eval: true }).on('exit', () => { console.log('ended'); setInterval(() => {}, 1e6); });`;
    const parent = nodeSpawn(process.execPath, ['--no-warnings', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(parent.stdout, 'data');
    assert.equal(alive(mark).length, 2);
    parent.kill('SIGKILL');
    await until('none lives', () => alive(mark).length === 0);
  });

  test('is off by default, and named when it is wrong', async () => {
    const mark = newMark();
    const parent = nodeSpawn(process.execPath, ['--no-warnings', '-e', server(mark, '{}')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(parent.stdout, 'data');
    await until('all seven live', () => alive(mark).length === 7);
    parent.kill('SIGKILL');
    await once(parent, 'exit');
    assert.equal(alive(mark).length, 6);
    for (const pid of alive(mark)) process.kill(Number(pid), 'SIGKILL');
    const code = 'ERR_REDLINE_CHILD_PROCESS_OPTION';
    assert.throws(() => spawn('true', { dieWithParent: 1 } as never), { code, message: /got 1\./ });
  });
});
