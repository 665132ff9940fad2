// Functions called by Node's own functions, which tools replace to observe or change every child. The engine calls none of
// them, so if one is replaced, Node's functions are used.
import { ChildProcess } from 'node:child_process';

type Called = (...args: unknown[]) => unknown;

/** A function that Node's functions call. */
interface Place {
  readonly holder: Record<string, Called>;
  readonly name: string;
  /** `undefined` if a tool loaded earlier has already replaced it. */
  readonly original: Called | undefined;
}

const ofSpawn = place(ChildProcess.prototype, 'spawn', '_handle.spawn(');
const ofSync = [
  place(binding('spawn_sync'), 'spawn', '[native code]'),
  // Only accessible with --expose-internals.
  place(process.getBuiltinModule?.('internal/child_process'), 'spawnSync', 'spawn_sync.spawn('),
].filter((each) => each !== undefined);

/** Returns true if `ChildProcess.prototype.spawn` was replaced, as tracers do. */
export function isSpawnPatched(): boolean {
  return ofSpawn === undefined || isPatched(ofSpawn);
}

/** Returns true if a function used by the Sync functions was replaced, as coverage tools do. */
export function isSyncPatched(): boolean {
  return ofSync.some(isPatched);
}

/** Returns the internal binding that such tools replace; `undefined` if Node does not expose it. */
export function binding(name: string): unknown {
  const holder = process as unknown as { binding?: Called; noDeprecation?: boolean };
  const { noDeprecation } = holder;
  // --pending-deprecation should only report the program's own calls.
  holder.noDeprecation = true;
  try {
    return holder.binding?.(name);
  } catch {
    return undefined;
  } finally {
    holder.noDeprecation = noDeprecation;
  }
}

/** Node's own function is recognised by `source` in its text. */
function place(holder: unknown, name: string, source: string): Place | undefined {
  const found = (holder as Place['holder'] | undefined)?.[name];
  if (found === undefined) return undefined;
  const isNodes = Function.prototype.toString.call(found).includes(source);
  return { holder: holder as Place['holder'], name, original: isNodes ? found : undefined };
}

function isPatched({ holder, name, original }: Place): boolean {
  return holder[name] !== original;
}
