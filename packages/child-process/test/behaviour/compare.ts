import assert from 'node:assert/strict';
import * as node from 'node:child_process';
import { describe, test } from 'node:test';
import * as redline from '../../src/index.ts';
import { usuallyAgree } from './agree.ts';
import { afterTheCall } from './after-the-call.ts';
import { afterTheExit } from './after-the-exit.ts';
import { badInput } from './bad-input.ts';
import { beforeTheLoop } from './before-the-loop.ts';
import { collected } from './collected.ts';
import { endedUnseen } from './ended-unseen.ts';
import { ending } from './ending.ts';
import { chosen } from './exhaustive.ts';
import { extraPipes } from './extra-pipes.ts';
import { given } from './given.ts';
import { handedOver } from './handed-over.ts';
import { messages } from './messages.ts';
import { missingPrograms } from './missing.ts';
import { socketFacts } from './socket-facts.ts';
import { spawnOptions } from './spawn-options.ts';
import { stdio } from './stdio.ts';
import { sync } from './sync.ts';
import { surroundings } from './surroundings.ts';
import { tools } from './tools.ts';
import type { ChildProcessModule } from './trace.ts';

/** How often both are asked before what the engine does counts as different: on a busy machine Node varies. */
const RUNS = 5;

type Behaviour = (module: ChildProcessModule) => unknown;

const suites: Readonly<Record<string, Readonly<Record<string, Behaviour>>>> = {
  'options of spawn': spawnOptions,
  'bad input': badInput,
  'what is given': given,
  stdio,
  'extra pipes': extraPipes,
  'handed to another child': handedOver,
  'programs that are missing': missingPrograms,
  'right after the call': afterTheCall,
  'before the loop has looked': beforeTheLoop,
  'after the exit': afterTheExit,
  'outputs that ended unseen': endedUnseen,
  'properties of the sockets': socketFacts,
  'how a child ends': ending,
  'exec and execFile': collected,
  'fork and messages': messages,
  surroundings,
  'the Sync functions': sync,
  tools,
};

export const behaviourNames: readonly string[] = Object.values(suites).flatMap(Object.keys);

/** With REDLINE_CHILD_PROCESS=node, or without the addon, this compares Node with Node: the suite itself is tested. */
export function compareBehaviours(which: 'usual' | 'exhaustive'): void {
  for (const [suite, all] of Object.entries(suites)) {
    const behaviours = chosen<Behaviour>(all, which);
    if (behaviours.length === 0) continue;
    describe(`as node:child_process, ${suite}:`, { timeout: 600_000 }, () => {
      for (const [name, behave] of behaviours) {
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
}
