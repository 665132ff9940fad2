import { ChildPipes, type Collection } from './child-pipes.ts';
import type { NativeChild } from './native-child.ts';
import { port } from './port.ts';
import type { SpawnPlan } from './spawn-plan.ts';

/** Output to gather instead of streaming it. */
export interface Collecting {
  readonly limit: number;
  of(child: NativeChild): Collection;
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
