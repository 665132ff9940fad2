import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { engine, reapOrphans } from '../../src/index.ts';

const entry = JSON.stringify(new URL('../../src/index.ts', import.meta.url).href);
const canUnshare = spawnSync('unshare', ['-pf', '--mount-proc', 'true']).status === 0;
const skip =
  engine().name !== 'native'
    ? 'the native engine does not serve here'
    : canUnshare
      ? false
      : 'this user may not make a namespace';

/** Runs a program as PID 1: what it prints, as JSON. */
function asFirst(program: string, flags: string[]): unknown {
  const folder = mkdtempSync(join(tmpdir(), 'redline-first-'));
  try {
    const file = join(folder, 'first.mjs');
    writeFileSync(file, `import * as redline from ${entry};\n${helpers}\n${program}`);
    const { status, stdout, stderr } = spawnSync(
      'unshare',
      ['-pf', ...flags, process.execPath, '--no-warnings', file],
      { encoding: 'utf8' },
    );
    assert.equal(status, 0, stderr);
    return JSON.parse(stdout);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const helpers = `
import * as node from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
const self = String(readFileSync('/proc/self/stat', 'utf8').split(' ')[0]);
/** Children of this process, and whether they have ended. */
function children() {
  return readdirSync('/proc').filter((name) => /^\\d+$/.test(name)).map((name) => {
    try {
      return readFileSync('/proc/' + name + '/stat', 'utf8').split(') ')[1].split(' ');
    } catch {
      return ['', ''];
    }
  }).filter(([, parent]) => parent === self);
}
const zombies = () => children().filter(([state]) => state === 'Z').length;
async function until(holds) {
  while (!holds()) await sleep(20);
}`;

describe('reapOrphans', { timeout: 600_000 }, () => {
  test('is false where no orphans come to this process', () => {
    assert.equal(reapOrphans(), false);
  });

  for (const flags of [['--mount-proc'], []]) {
    const where = flags.length > 0 ? 'in a container' : 'with the /proc of another namespace';
    test(
      `as PID 1 ${where}, orphans are reaped, and every status reaches whom it is for`,
      { skip },
      () => {
        const program = `
        const early = node.spawn('sh', ['-c', 'exit 9'], { stdio: 'ignore' });
        const isOn = redline.reapOrphans();
        const statuses = [once(early, 'exit').then(([code]) => code)];
        for (const module of [node, redline]) {
          for (let i = 0; i < 5; i++) {
            const child = module.spawn('sh', ['-c', 'sleep 0.3 & sleep 0.01 & exit ' + (i + 1)], { stdio: 'ignore' });
            statuses.push(once(child, 'exit').then(([code]) => code));
          }
        }
        // Children that end while nobody can look for longer than it takes to find their zombies.
        const late = [1, 2, 3].map((i) => node.spawn('sh', ['-c', 'exit ' + i], { stdio: 'ignore' }));
        const heard = late.map((child) => once(child, 'exit').then(([code]) => code));
        const sync = redline.spawnSync('sh', ['-c', '(sleep 0.1 &) ; sleep 1.8; exit 7']).status;
        const ends = await Promise.all([...statuses, ...heard]);
        await until(() => children().length === 0);
        console.log(JSON.stringify({ isOn, ends, sync, zombies: zombies() }));`;
        assert.deepEqual(asFirst(program, flags), {
          isOn: true,
          ends: [9, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2, 3],
          sync: 7,
          zombies: 0,
        });
      },
    );
  }

  test('without it they stay, as with Node', { skip }, () => {
    const program = `
      const child = redline.spawn('sh', ['-c', 'for i in 1 2 3; do sleep 0.1 & done'], { stdio: 'ignore' });
      await once(child, 'exit');
      await until(() => zombies() === 3);
      await sleep(1500);
      console.log(zombies());`;
    assert.equal(asFirst(program, ['--mount-proc']), 3);
  });
});
