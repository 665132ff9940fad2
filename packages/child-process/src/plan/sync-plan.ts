import { isSyncPatched } from '../node/patched.ts';
import { planSpawn, type SpawnPlan } from './spawn-plan.ts';
import { MIXED, planStdio } from './stdio-plan.ts';
import { STDIO } from '../native/wire.ts';

const { PIPE } = STDIO;

const MAX_BUFFER = 1024 * 1024;

/** A synchronous process with validated arguments. */
export interface SyncPlan {
  readonly spawn: SpawnPlan;
  /** The engine's codes, one per entry. */
  readonly stdio: number[];
  readonly input: Uint8Array | undefined;
  /** Max bytes of all outputs together; 0 is unlimited. */
  readonly maxBuffer: number;
  readonly encoding: unknown;
}

/** Validates and normalises the arguments of `spawnSync`; `undefined` if Node has to decide, as in {@link planSpawn}. */
export function planSync(file: unknown, args: unknown, options: unknown): SyncPlan | undefined {
  if (isSyncPatched()) return undefined;
  if (typeof args === 'object' && args !== null && !Array.isArray(args)) {
    options = args;
    args = [];
  }
  if (options !== undefined && (typeof options !== 'object' || options === null)) return undefined;
  const given = { __proto__: null, ...options } as Record<string, unknown>;
  const stdio = descriptors(given['stdio']);
  const maxBuffer = 'maxBuffer' in given ? (given['maxBuffer'] ?? 0) : MAX_BUFFER;
  const isGood =
    stdio !== undefined &&
    !Array.isArray(options) &&
    typeof maxBuffer === 'number' &&
    maxBuffer >= 0 &&
    isInput(given['input']) &&
    // An empty cwd means a missing folder here, not the current one.
    given['cwd'] !== '';
  if (!isGood) return undefined;
  // The Sync functions ignore these two and accept any value.
  const rest = { ...given, stdio: 'ignore', signal: undefined, serialization: undefined };
  const spawn = planSpawn(file, args, rest);
  if (spawn === undefined) return undefined;
  const { encoding } = given;
  const input = stdio[0] === PIPE ? bytesOf(given['input'], encoding) : undefined;
  return { spawn, stdio, input, maxBuffer, encoding };
}

function descriptors(given: unknown): number[] | undefined {
  const plan = planStdio(given);
  if (plan?.mixed === undefined) return plan?.codes;
  const codes = plan.codes.map((code, index) =>
    code === MIXED ? descriptorOf(plan.mixed![index]) : code,
  );
  return codes.includes(MIXED) ? undefined : codes;
}

/** Returns the descriptor of a stream. Node aborts the process if it has to read it from the stream's handle. */
function descriptorOf(entry: unknown): number {
  const { handle, _handle } = entry as { handle?: { fd?: unknown }; _handle?: { fd?: unknown } };
  const fd = handle?.fd ?? _handle?.fd;
  return typeof fd === 'number' && fd >= 0 ? fd : MIXED;
}

function isInput(input: unknown): boolean {
  return !input || typeof input === 'string' || ArrayBuffer.isView(input);
}

function bytesOf(input: unknown, encoding: unknown): Uint8Array | undefined {
  if (!input) return undefined;
  if (typeof input === 'string') return Buffer.from(input, encoding as BufferEncoding);
  const { buffer, byteOffset, byteLength } = input as ArrayBufferView;
  return new Uint8Array(buffer, byteOffset, byteLength);
}
