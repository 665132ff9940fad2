import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { temporaryFolder } from '../harness.ts';
import { trials } from './evening/trials.ts';
import { seededRandom } from './kill-trials.ts';
import { platforms } from './platforms.ts';

// The servers of sinks are killed by `npm run faults:defer` alone, which also has 200,000 jobs.
const preloaded = trials.filter(({ kind, isControl }) => {
  return isControl !== true && (kind.startsWith('disk: ') || kind === 'power failure');
});
const hasCompiler = spawnSync('cc', ['--version']).status === 0;
const skip =
  hasCompiler && process.platform === 'linux' ? false : 'It needs Linux and a C compiler (cc).';

describe('no acknowledged job is lost', { skip }, () => {
  for (const [at, trial] of preloaded.entries()) {
    test(trial.kind, async (t) => {
      const outcome = await trial.run({
        directory: join(temporaryFolder(t), 'journal'),
        level: trial.level ?? (at % 2 === 0 ? 'process' : 'disk'),
        platform: platforms[at % platforms.length]!,
        ...(at % 3 === 1 && { seal: 'key' }),
        random: seededRandom(at),
        signal: t.signal,
        patienceMs: 60_000,
        jobs: 50,
      });
      assert.ok(!('missing' in outcome));
      t.diagnostic(`${outcome.acknowledged} acknowledged, ${outcome.faults} faults`);
      assert.deepEqual(outcome.lost, []);
    });
  }
});
