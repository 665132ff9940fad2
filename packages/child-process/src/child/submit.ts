import { ChildPipes, type Collection } from './child-pipes.ts';
import { monitoredBits } from './monitor.ts';
import type { NativeChild } from './native-child.ts';
import { tryPort } from '../native/port.ts';
import type { SpawnPlan } from '../plan/spawn-plan.ts';
import { SPAWNED } from '../native/wire.ts';

const { ID_UNIT } = SPAWNED;

/** Output that is collected instead of streamed. */
export interface Collecting {
  readonly limit: number;
  of(child: NativeChild): Collection;
}

/** The data that the engine needs of a child, besides its environment and stdio. */
export type Submitted = Pick<
  SpawnPlan,
  'file' | 'argv' | 'cwd' | 'detached' | 'uid' | 'gid' | 'extras'
>;

/** The mapping of a child's descriptors. */
export interface Wiring {
  /** The engine's codes, one per descriptor. */
  readonly codes: number[];
  /** Codes of the streams that the child object has. @default codes */
  readonly visible?: number[];
  readonly collecting?: Collecting | undefined;
  /** Called before any event of the child. */
  readonly onQueued?: (id: number) => void;
}

/** Queues the child. Returns 0 or a negative errno, including that of a child that has already failed. */
export function submit(
  child: NativeChild,
  plan: Submitted,
  env: string[] | null,
  { codes, visible = codes, collecting, onQueued }: Wiring,
): number {
  const opened = tryPort();
  if (typeof opened === 'number') return -opened;
  const bits = plan.extras.bits | monitoredBits();
  const answer = opened.spawn(
    plan.file,
    plan.argv.join('\0'),
    env === null ? null : env.join('\0'),
    plan.cwd,
    plan.detached,
    plan.uid,
    plan.gid,
    codes,
    collecting?.limit ?? 0,
    bits,
  );
  if (answer < 0 && answer > -ID_UNIT) return answer;
  const id = answer < 0 ? Math.floor(-answer / ID_UNIT) : answer;
  onQueued?.(id);
  const handle = child._handle!;
  const pipes = new ChildPipes(id, visible, collecting?.of(child), handle);
  child._closesNeeded += pipes.outputs;
  handle.begin(id, pipes);
  if (bits !== 0) handle.extend(bits, plan.extras);
  if (answer > 0) {
    handle.announceSoon();
    return 0;
  }
  handle.fail();
  return -(-answer % ID_UNIT);
}
