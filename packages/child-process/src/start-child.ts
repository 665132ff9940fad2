import { tracingChannel } from 'node:diagnostics_channel';
import { constants } from 'node:os';
import { ChildPipes, type Collection } from './child-pipes.ts';
import { systemError } from './errors.ts';
import { startMixed } from './mixed-stdio.ts';
import { NativeChild } from './native-child.ts';
import { port } from './port.ts';
import type { SpawnPlan } from './spawn-plan.ts';
import { COLLECT, PIPE } from './stdio-plan.ts';

const { EACCES, EAGAIN, EMFILE, ENFILE, ENOENT } = constants.errno;
/** Node emits these and throws the others. */
const emitted = new Set([EACCES, EAGAIN, EMFILE, ENFILE, ENOENT]);
const traced = tracingChannel('child_process.spawn');

/** Output to gather instead of streaming it. */
export interface Collecting {
  readonly limit: number;
  of(child: NativeChild): Collection;
}

/** Makes the child and hands it to the engine. Throws what Node throws when the engine refuses at once. */
export function startChild(plan: SpawnPlan, collecting?: Collecting): NativeChild {
  const child = new NativeChild(plan.file, plan.args);
  if (plan.stdio.mixed !== undefined) {
    startMixed(child, plan, plan.stdio.mixed);
    return child;
  }
  if (traced.start.hasSubscribers) traced.start.publish({ process: child, options: plan });
  const { codes } = plan.stdio;
  const errno =
    collecting === undefined
      ? submit(child, plan, codes, plan.env)
      : submit(child, plan, codes.map(collected), plan.env, collecting);
  if (errno === 0) {
    if (traced.end.hasSubscribers) traced.end.publish({ process: child });
    return child;
  }
  const error = systemError(errno, 'spawn');
  if (traced.error.hasSubscribers) traced.error.publish({ process: child, error });
  const handle = child._handle!;
  if (!emitted.has(-errno)) {
    handle.close();
    child._handle = null;
    throw error;
  }
  process.nextTick(() => handle.onexit(errno));
  return child;
}

/** Queues the child: 0, or a negative error number. `onQueued` runs before anything can happen to it. */
export function submit(
  child: NativeChild,
  plan: SpawnPlan,
  codes: number[],
  env: string[] | null,
  collecting?: Collecting,
  visible: number[] = codes,
  onQueued?: (id: number) => void,
): number {
  const id = port().spawn(
    plan.file,
    plan.args.join('\0'),
    env === null ? null : env.join('\0'),
    plan.cwd,
    plan.detached,
    plan.uid,
    plan.gid,
    codes,
    collecting?.limit ?? 0,
  );
  if (id < 0) return id;
  onQueued?.(id);
  const pipes = new ChildPipes(id, visible, collecting?.of(child), child.countOutput);
  child._closesNeeded += pipes.outputs;
  child._handle!.begin(id, pipes);
  return 0;
}

function collected(code: number, index: number): number {
  return code === PIPE && (index === 1 || index === 2) ? COLLECT : code;
}
