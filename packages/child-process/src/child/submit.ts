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

/** What the engine needs to know about a child, besides its environment and stdio. */
export type Submitted = Pick<
  SpawnPlan,
  'file' | 'argv' | 'cwd' | 'detached' | 'uid' | 'gid' | 'extras'
>;

/** What a child's descriptors become. */
export interface Wiring {
  /** For the engine: one code for each descriptor. */
  readonly codes: number[];
  /** Those whose streams are the child's own. @default codes */
  readonly visible?: number[];
  readonly collecting?: Collecting | undefined;
  /** Before anything can happen to the child. */
  readonly onQueued?: (id: number) => void;
}

/** Queues the child: 0, or a negative error number, also that of one that has failed by now. */
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
