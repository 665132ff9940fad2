import { tracingChannel } from 'node:diagnostics_channel';
import { constants } from 'node:os';
import { systemError } from '../errors.ts';
import { startMixed } from './mixed-stdio.ts';
import { nodeOptions } from '../plan/node-options.ts';
import { createChild, type NativeChild } from './native-child.ts';
import { isSpawnPatched } from '../node/patched.ts';
import type { SpawnPlan } from '../plan/spawn-plan.ts';
import { stdioEntries } from '../plan/stdio-plan.ts';
import { startThroughNode } from './start-through-node.ts';
import { submit, type Collecting } from './submit.ts';
import { STDIO } from '../native/wire.ts';

const { COLLECT, PIPE } = STDIO;

const { EACCES, EAGAIN, EMFILE, ENFILE, ENOENT } = constants.errno;
/** Node emits these errors and throws all others. */
const emitted = new Set([EACCES, EAGAIN, EMFILE, ENFILE, ENOENT]);
const traced = tracingChannel('child_process.spawn');

/** Creates the child and passes it to the engine. Throws like Node if the engine refuses at once. */
export function startChild(plan: SpawnPlan, collecting?: Collecting): NativeChild {
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
