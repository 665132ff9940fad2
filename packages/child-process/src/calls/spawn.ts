import type { ChildProcess } from 'node:child_process';
import { killOnAbort } from './abort.ts';
import { treeOf } from './kill-tree.ts';
import { EXTRA } from '../native/wire.ts';
import { nodeChildProcess } from '../node/node-child-process.ts';
import type { SpawnPlan } from '../plan/spawn-plan.ts';
import { planSpawn } from '../plan/spawn-plan.ts';
import { startChild } from '../child/start-child.ts';
import type { Collecting } from '../child/submit.ts';
import { killOnTimeout } from './timeout.ts';

const { TREE } = EXTRA;

/** `spawn` on the native engine. */
export function spawn(file: unknown, args?: unknown, options?: unknown): ChildProcess {
  const plan = planSpawn(file, args, options);
  // Node's own function reports invalid arguments, and runs calls that the engine does not support.
  if (plan === undefined)
    return nodeChildProcess.spawn(file as never, args as never, options as never);
  return spawnPlanned(plan);
}

export function spawnPlanned(plan: SpawnPlan, collecting?: Collecting): ChildProcess {
  const started = startChild(plan, collecting);
  const child = started as unknown as ChildProcess;
  const tree = (plan.extras.bits & TREE) === 0 ? undefined : treeOf(child, plan.extras);
  if (plan.timeoutMs > 0) killOnTimeout(child, plan.timeoutMs, plan.killSignal, tree);
  if (plan.signal)
    killOnAbort(child, plan.signal, plan.killSignal, { handle: started._handle, tree });
  return child;
}
