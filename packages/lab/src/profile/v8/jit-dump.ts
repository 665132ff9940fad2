import { parseDescription, type Place } from './v8-log.ts';
import { isOptimised, type Tier, tierOfMark } from '../tiers.ts';

/** A function's machine code, as V8 recorded it when it was made (`--perf-prof`). Interpreted code is not included. */
export interface CompiledCode {
  type: 'compiled';
  /** Microseconds of the system's monotonic clock, which is also that of a CPU profile. */
  micros: number;
  tier: Tier;
  name: string;
  /** Start of the function. */
  place: Place;
  address: number;
  bytes: number;
  /** Places of every call or check in the code, including those of inlined functions. Empty for unoptimised code. */
  positions: Place[];
}

const loadRecord = 0;
const debugRecord = 2;
const magic = 0x4a695444;
/** Stands for the file name of the entry before. */
const sameName = '\u00ff';

/**
 * Reads the code of one thread from the dump of its process, in the order of its generation. An incomplete record at the end is
 * skipped.
 * @param thread Number of the thread in the system. @default the process id, which is the number of the main thread
 */
export function parseJitDump(dump: Buffer, thread?: number): CompiledCode[] {
  if (dump.length < 40 || dump.readUInt32LE(0) !== magic) return [];
  const codes: [CompiledCode, RawPosition[]][] = [];
  let positions: RawPosition[] = [];
  for (let at = dump.readUInt32LE(8); at + 16 <= dump.length;) {
    const id = dump.readUInt32LE(at);
    const size = dump.readUInt32LE(at + 4);
    if (size < 16 || at + size > dump.length) break;
    if (id === debugRecord) positions = readPositions(dump, at + 16, at + size);
    if (id === loadRecord) {
      // All threads of a process write into the same file.
      const isOfThread = dump.readUInt32LE(at + 20) === (thread ?? dump.readUInt32LE(at + 16));
      const code = isOfThread ? readCode(dump, at) : undefined;
      if (code !== undefined) codes.push([code, isOptimised(code.tier) ? positions : []]);
      positions = [];
    }
    at += size;
  }
  const scripts = new ScriptNames(codes.map(([{ place }]) => place.url));
  return codes.map(([code, raw]) => ({
    ...code,
    positions: raw.flatMap((position) => scripts.resolve(position, code.place.url)),
  }));
}

/** Reads a record. Head of 16 bytes; process, thread, virtual address, address, size, index; name; code. */
function readCode(dump: Buffer, at: number): CompiledCode | undefined {
  // `JS:*name file:1:2`; builtins and stubs have no mark.
  const text = dump.toString('utf8', at + 56, dump.indexOf(0, at + 56));
  const kind = /^(?:JS|Script|Eval):o?([~^+*])['%]*(.*:\d+:\d+)$/s.exec(text);
  const tier = kind === null ? undefined : tierOfMark(kind[1]!);
  if (tier === undefined) return undefined;
  const { name, place } = parseDescription(kind![2]!);
  return {
    type: 'compiled',
    micros: Number(dump.readBigUInt64LE(at + 8)) / 1_000,
    tier,
    name,
    place,
    address: Number(dump.readBigUInt64LE(at + 32)),
    bytes: Number(dump.readBigUInt64LE(at + 40)),
    positions: [],
  };
}

/** A line and column with the name of its file, whose bytes may be lost. */
interface RawPosition {
  line: number;
  column: number;
  name: string;
}

/** Max size of a function's code. */
const maxCodeBytes = 2 ** 24;

/**
 * Reads the address of the code and the number of entries; each is an address, line and column, and a file name. Since Node 16, V8
 * sometimes writes a name that it has already freed: as long as the right one, with other bytes, zeros among them. So an entry ends
 * where the next begins with an address of this code.
 */
function readPositions(dump: Buffer, from: number, end: number): RawPosition[] {
  const positions: RawPosition[] = [];
  const seen = new Set<string>();
  const base = dump.readBigUInt64LE(from);
  const count = Number(dump.readBigUInt64LE(from + 8));
  const isEntry = (at: number): boolean => {
    if (at + 17 > end) return false;
    const address = dump.readBigUInt64LE(at);
    return address >= base && address < base + BigInt(maxCodeBytes);
  };
  const endOfName = (start: number, isLast: boolean): number => {
    for (
      let zero = dump.indexOf(0, start);
      zero >= 0 && zero < end;
      zero = dump.indexOf(0, zero + 1)
    ) {
      if (isLast || isEntry(zero + 1)) return zero;
    }
    return -1;
  };
  let name = '';
  let at = from + 16;
  for (let index = 0; index < count && isEntry(at); index++) {
    const line = dump.readInt32LE(at + 8);
    const column = dump.readInt32LE(at + 12);
    const nameEnd = endOfName(at + 16, index + 1 === count);
    if (nameEnd < 0) break;
    const written = dump.toString('latin1', at + 16, nameEnd);
    if (written !== sameName) name = written;
    at = nameEnd + 1;
    const key = `${name}:${line}:${column}`;
    if (seen.has(key)) continue;
    seen.add(key);
    positions.push({ line, column, name });
  }
  return positions;
}

/** Restores a lost name by its length: to the function's own script, or the only other one; otherwise the position is dropped. */
class ScriptNames {
  readonly #known: Set<string>;
  readonly #byLength = new Map<number, string | false>();

  constructor(urls: Iterable<string>) {
    this.#known = new Set(urls);
    for (const url of this.#known) {
      const { length } = Buffer.from(url);
      this.#byLength.set(length, this.#byLength.has(length) ? false : url);
    }
  }

  resolve({ name, line, column }: RawPosition, own: string): Place[] {
    const url = Buffer.from(name, 'latin1').toString();
    if (this.#known.has(url)) return [{ url, line, column }];
    const guess =
      Buffer.byteLength(own) === name.length ? own : this.#byLength.get(name.length) || undefined;
    return guess === undefined ? [] : [{ url: guess, line, column }];
  }
}
