import assert from 'node:assert/strict';
import * as node from 'node:child_process';
import { describe, test } from 'node:test';
import * as redline from '../src/index.ts';
import { usuallyAgree } from './behaviour/agree.ts';
import { afterTheCall } from './behaviour/after-the-call.ts';
import { afterTheExit } from './behaviour/after-the-exit.ts';
import { badInput } from './behaviour/bad-input.ts';
import { beforeTheLoop } from './behaviour/before-the-loop.ts';
import { collected } from './behaviour/collected.ts';
import { ending } from './behaviour/ending.ts';
import { extraPipes } from './behaviour/extra-pipes.ts';
import { messages } from './behaviour/messages.ts';
import { missingPrograms } from './behaviour/missing.ts';
import { spawnOptions } from './behaviour/spawn-options.ts';
import { stdio } from './behaviour/stdio.ts';
import { sync } from './behaviour/sync.ts';
import { surroundings } from './behaviour/surroundings.ts';
import { tools } from './behaviour/tools.ts';
import type { ChildProcessModule } from './behaviour/trace.ts';

/** How often both are asked before what the engine does counts as different: on a busy machine Node varies. */
const RUNS = 5;

const suites = {
  'options of spawn': spawnOptions,
  'bad input': badInput,
  stdio,
  'extra pipes': extraPipes,
  'programs that are missing': missingPrograms,
  'right after the call': afterTheCall,
  'before the loop has looked': beforeTheLoop,
  'after the exit': afterTheExit,
  'how a child ends': ending,
  'exec and execFile': collected,
  'fork and messages': messages,
  surroundings,
  'the Sync functions': sync,
  tools,
};

// With REDLINE_CHILD_PROCESS=node, or without the addon, this compares Node with Node: the suite itself is tested.
for (const [suite, behaviours] of Object.entries(suites)) {
  describe(`as node:child_process, ${suite}:`, { timeout: 120_000 }, () => {
    for (const [name, behave] of Object.entries(behaviours)) {
      test(name, async (t) => {
        const theirs: unknown[] = [];
        const ours: unknown[] = [];
        for (let run = 0; run < RUNS; run++) {
          ours.push(await behave(redline as unknown as ChildProcessModule));
          theirs.push(await behave(node));
          assert.notEqual(ours.at(-1), undefined);
          if (!usuallyAgree(theirs, ours)) continue;
          if (run > 0) t.diagnostic(`both were asked ${run + 1} times`);
          return;
        }
        assert.deepEqual(ours, theirs);
      });
    }
  });
}
