import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { engine } from '../src/index.ts';

/** Somebody else in the process, an addon say, has waited for every child: for the engine, each wait fails. */
const thief = `
#include <errno.h>
int waitid(int kind, unsigned id, void *info, int options) { errno = ECHILD; return -1; }
`;

const folder = mkdtempSync(join(tmpdir(), 'redline-lost-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const library = join(folder, 'thief.so');

function compile(): boolean {
  const source = join(folder, 'thief.c');
  writeFileSync(source, thief);
  try {
    execFileSync('cc', ['-shared', '-fPIC', '-o', library, source], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const skip =
  engine().name !== 'native' ? 'the engine is not used' : !compile() && 'a C compiler is missing';

/** What a program prints as JSON that has the engine's functions as `cp`. */
async function run(body: string): Promise<unknown> {
  const module = join(import.meta.dirname, '../src/index.ts');
  const program = `
    const cp = await import(${JSON.stringify(module)});
    const { promisify } = await import('node:util');
    const brief = ({ code, errno, syscall, path }) => ({ code, errno, syscall, path });
    ${body}`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--no-warnings', '--input-type=module', '-e', program],
    { env: { ...process.env, LD_PRELOAD: library } },
  );
  return JSON.parse(stdout);
}

const lost = { code: 'ECHILD', errno: -10, syscall: 'waitid sh', path: 'sh' };

describe('a child whose exit status somebody else has taken', { skip, timeout: 600_000 }, () => {
  test('is an error of spawn, not an exit', async () => {
    const events = await run(`
      const events = [];
      let out = '';
      const child = cp.spawn('sh', ['-c', 'echo out']);
      child.on('error', (error) => events.push(['error', brief(error)]));
      child.on('exit', (...how) => events.push(['exit', ...how]));
      child.stdout.on('data', (text) => (out += text));
      child.on('close', (code) => events.push(['close', code !== 0]));
      await new Promise((resolve) => child.on('close', resolve));
      console.log(JSON.stringify([out, ...events]));`);
    assert.deepEqual(events, ['out\n', ['error', lost], ['close', true]]);
  });

  test('is an error of execFile and exec, with the output', async () => {
    const errors = await run(`
      const calls = [promisify(cp.execFile)('sh', ['-c', 'echo out']), promisify(cp.exec)('echo out')];
      const settled = await Promise.allSettled(calls);
      console.log(JSON.stringify(settled.map(({ reason, value }) => [reason?.code ?? 'none', (reason ?? value).stdout])));`);
    assert.deepEqual(errors, [
      ['ECHILD', 'out\n'],
      ['ECHILD', 'out\n'],
    ]);
  });

  test('is an error of the Sync functions', async () => {
    const errors = await run(`
      const { error, status, stdout } = cp.spawnSync('sh', ['-c', 'echo out']);
      const codes = [];
      for (const call of [() => cp.execSync('true'), () => cp.execFileSync('true')]) {
        try {
          call();
          codes.push('none');
        } catch (error) {
          codes.push(error.code);
        }
      }
      console.log(JSON.stringify([error?.code, status, String(stdout), codes]));`);
    assert.deepEqual(errors, ['ECHILD', null, 'out\n', ['ECHILD', 'ECHILD']]);
  });
});
