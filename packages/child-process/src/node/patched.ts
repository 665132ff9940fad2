// What tools replace to see or change every child: functions that Node's own functions call. The engine calls none of them, so
// where one is replaced, Node's functions are used.
import { ChildProcess } from 'node:child_process';

type Called = (...args: unknown[]) => unknown;

/** Something that Node's functions call. */
interface Place {
  readonly holder: Record<string, Called>;
  readonly name: string;
  /** `undefined` when a tool that was loaded earlier has replaced it already. */
  readonly original: Called | undefined;
}

const ofSpawn = place(ChildProcess.prototype, 'spawn', '_handle.spawn(');
const ofSync = [
  place(binding('spawn_sync'), 'spawn', '[native code]'),
  // Within reach with --expose-internals only.
  place(process.getBuiltinModule?.('internal/child_process'), 'spawnSync', 'spawn_sync.spawn('),
].filter((each) => each !== undefined);

/** Whether somebody has put a function of their own into the place of `ChildProcess.prototype.spawn`, as tracers do. */
export function isSpawnPatched(): boolean {
  return ofSpawn === undefined || isPatched(ofSpawn);
}

/** The same for what the Sync functions call, which coverage tools replace. */
export function isSyncPatched(): boolean {
  return ofSync.some(isPatched);
}

/** Where such tools reach. `undefined` where Node does not hand it out. */
export function binding(name: string): unknown {
  const holder = process as unknown as { binding?: Called; noDeprecation?: boolean };
  const { noDeprecation } = holder;
  // --pending-deprecation is meant to find the program's own calls.
  holder.noDeprecation = true;
  try {
    return holder.binding?.(name);
  } catch {
    return undefined;
  } finally {
    holder.noDeprecation = noDeprecation;
  }
}

/** Node's own function has `source` in its text. */
function place(holder: unknown, name: string, source: string): Place | undefined {
  const found = (holder as Place['holder'] | undefined)?.[name];
  if (found === undefined) return undefined;
  const isNodes = Function.prototype.toString.call(found).includes(source);
  return { holder: holder as Place['holder'], name, original: isNodes ? found : undefined };
}

function isPatched({ holder, name, original }: Place): boolean {
  return holder[name] !== original;
}
