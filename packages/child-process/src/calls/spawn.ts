import type { ChildProcess } from 'node:child_process';
import { tracingChannel } from 'node:diagnostics_channel';
import { constants } from 'node:os';
import { killOnAbort } from './abort.ts';
import { treeOf, type Tree } from './kill-tree.ts';
import { EXTRA, STDIO } from '../native/wire.ts';
import { nodeChildProcess } from '../node/node-child-process.ts';
import { isSpawnPatched } from '../node/patched.ts';
import { type SpawnPlan, planSpawn } from '../plan/spawn-plan.ts';
import { type Collecting, submit } from '../child/submit.ts';
import { systemError } from '../errors.ts';
import { startMixed, nodeOptions, startThroughNode } from '../child/start-through-node.ts';
import { createChild, type NativeChild } from '../child/native-child.ts';
import { stdioEntries } from '../plan/stdio-plan.ts';
import { clearTimeout, setTimeout } from '../node/timers.ts';

const { COLLECT, PIPE } = STDIO;
const { TREE } = EXTRA;
const { EACCES, EAGAIN, EMFILE, ENFILE, ENOENT } = constants.errno;
/** Node emits these errors and throws all others. */
const emitted = new Set([EACCES, EAGAIN, EMFILE, ENFILE, ENOENT]);
const traced = tracingChannel('child_process.spawn');

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

/** Creates the child and passes it to the engine. Throws like Node if the engine refuses at once. */
function startChild(plan: SpawnPlan, collecting?: Collecting): NativeChild {
  const child = createChild(plan.file, plan.args as string[]);
  if (isSpawnPatched()) {
    startThroughNode(child, plan, collecting);
    return child;
  }
  if (plan.stdio.mixed !== undefined) {
    startMixed(child, plan, plan.stdio.mixed);
    return child;
  }
  if (traced.start.hasSubscribers)
    traced.start.publish({
      process: child,
      options: { ...nodeOptions(plan), stdio: stdioEntries(plan.stdio.codes) },
    });
  const { codes } = plan.stdio;
  const errno =
    collecting === undefined
      ? submit(child, plan, plan.env, { codes })
      : submit(child, plan, plan.env, { codes: codes.map(collected), collecting });
  if (errno === 0) {
    if (traced.end.hasSubscribers) traced.end.publish({ process: child });
    return child;
  }
  const handle = child._handle!;
  if (traced.error.hasSubscribers)
    traced.error.publish({ process: child, error: systemError(errno, 'spawn') });
  if (handle.pipes === undefined && !emitted.has(-errno)) {
    handle.close();
    child._handle = null;
    throw systemError(errno, 'spawn');
  }
  process.nextTick(() => handle.onexit(errno));
  return child;
}

function collected(code: number, index: number): number {
  return code === PIPE && (index === 1 || index === 2) ? COLLECT : code;
}

/** Kills the child after `timeoutMs`. */
function killOnTimeout(
  child: ChildProcess,
  timeoutMs: number,
  killSignal: NodeJS.Signals | number | undefined,
  tree?: Tree,
): void {
  const timer = setTimeout(() => {
    try {
      if (!child.kill(killSignal)) tree?.endLeft(killSignal);
    } catch (error) {
      child.emit('error', error as Error);
    }
  }, timeoutMs);
  child.once(tree === undefined ? 'exit' : 'close', () => clearTimeout(timer));
}
