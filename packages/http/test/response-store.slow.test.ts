import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { engine, type ResponseStoreStats } from '../src/index.ts';
import type { Sample } from './abuse/sample.ts';

const skip = engine().name === 'native' ? false : 'the addon is not built';

// 5 million requests for 2.5 million targets by `npm run test:soak`.
const wanted = Number(process.env['REDLINE_REQUESTS'] ?? 1_000_000);

describe('memory', { skip, timeout: Math.max(240_000, wanted / 4) }, () => {
  test('stays flat over half a million targets whose responses are stored', async (t) => {
    const child = fork(join(import.meta.dirname, 'abuse', 'soak-response-store.ts'), {
      execArgv: ['--no-warnings', '--expose-gc', '--max-semi-space-size=1'],
    });
    const [{ samples, stats }] = (await once(child, 'message')) as [
      { samples: Sample[]; stats: ResponseStoreStats },
    ];
    child.kill();
    for (const { requests, residentMiB, heapKiB } of samples) {
      t.diagnostic(`${requests} requests: ${residentMiB} MiB resident, ${heapKiB} KiB of heap`);
    }
    t.diagnostic(JSON.stringify(stats));
    assert.ok(stats.kept > 400_000 && stats.evicted > 300_000 && stats.dropped > 0);
    assert.ok(stats.bytes <= stats.maxBytes);
    // The store is full by the second sample.
    const grownMiB = samples.at(-1)!.residentMiB - samples[1]!.residentMiB;
    assert.ok(grownMiB <= 16, `${grownMiB} MiB more are resident`);
  });
});
