import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { type Tier, tierOfMark } from '../tiers.ts';

/** The start of a function, or the place of an event: line and column from 1. */
export interface Place {
  url: string;
  line: number;
  column: number;
}

/** V8 made code for a function. */
export interface CodeCreated {
  type: 'created';
  /** Microseconds since the isolate began; -1 if V8 gives no time (Node 8). */
  micros: number;
  tier: Tier;
  /** Empty for an anonymous function. */
  name: string;
  place: Place;
  /** Address of the shared function info: one per function in the source, until a collection moves it. */
  sharedInfo: string;
  address: string;
}

/** Optimised code was discarded while it ran. */
export interface CodeDeopt {
  type: 'deopt';
  micros: number;
  address: string;
  /** V8's own word without its prefix: `eager`, `lazy`, `soft`, in old versions also `dependency-change`. */
  kind: string;
  reason: string;
  /** The place itself, then the places it was inlined into, outermost last. Empty if V8 names no source. */
  stack: Place[];
}

/** The range of a function's code in the source, and the other functions that optimised code contains. */
export interface CodeSource {
  type: 'source';
  address: string;
  /** Characters from the start of the script. */
  start: number;
  end: number;
  /** Shared function infos of the inlined functions. */
  sharedInfos: string[];
}

/** The text of a script was logged, of which only the lines are kept. */
export interface ScriptSource {
  type: 'script';
  url: string;
  /** Characters from the start of the script to the start of each line. */
  lineStarts: number[];
}

export interface CodeMoved {
  type: 'moved';
  from: string;
  to: string;
}

/** A shared function info was moved by the collector. */
export interface SharedInfoMoved {
  type: 'shared-info-moved';
  from: string;
  to: string;
}

export type CodeEvent =
  | CodeCreated
  | CodeDeopt
  | CodeSource
  | ScriptSource
  | CodeMoved
  | SharedInfoMoved;

const functionTypes = new Set(['JS', 'LazyCompile', 'Function', 'Script', 'Eval']);

/**
 * Parses one line of V8's log (`--log-code`), of Node 8 to 26. Undefined for lines that say nothing about a function's code.
 * Versions differ in quotes, in the columns before the address, and in their words for the same thing.
 */
export function parseLogLine(line: string): CodeEvent | undefined {
  // Most of a log is source text: only the start of a line may be examined before it is known to matter.
  if (line.startsWith('code-creation,')) return parseCreation(fieldsOf(line));
  if (line.startsWith('code-deopt,')) return parseDeopt(fieldsOf(line));
  if (line.startsWith('code-source-info,')) return parseSource(line.split(','));
  if (line.startsWith('script-source,')) return parseScript(line);
  if (line.startsWith('code-move,')) return parseMove(line.split(','), 'moved');
  if (line.startsWith('sfi-move,')) return parseMove(line.split(','), 'shared-info-moved');
  return undefined;
}

/** Reads the relevant events of a log, in order. */
export async function readLog(file: string): Promise<CodeEvent[]> {
  const events: CodeEvent[] = [];
  for await (const line of createInterface({
    input: createReadStream(file),
    crlfDelay: Infinity,
  })) {
    const event = parseLogLine(line);
    if (event !== undefined) events.push(event);
  }
  return events;
}

/** Parses `code-creation,JS,11,615546,0x1f8a,20,pad /app.js:2:13,0x2615,~`. */
function parseCreation(fields: string[]): CodeCreated | undefined {
  const [, type, , micros, address, , described, sharedInfo, mark] = fields;
  if (!functionTypes.has(type!) || described === undefined || !sharedInfo?.startsWith('0x')) {
    return undefined;
  }
  const tier = tierOfMark(mark ?? '');
  if (tier === undefined) return undefined;
  const { name, place } = parseDescription(described);
  return {
    type: 'created',
    micros: Number(micros),
    tier,
    name,
    place,
    sharedInfo,
    address: address!,
  };
}

/** Splits a description. A name may contain spaces, a path too: only the position at the end is certain. */
export function parseDescription(described: string): { name: string; place: Place } {
  const position = /:(\d+):(\d+)$/.exec(described);
  const before = position === null ? described : described.slice(0, position.index);
  const at = startOfUrl(before);
  return {
    name: before.slice(0, at).trim(),
    place: {
      url: before.slice(at).trim(),
      line: Number(position?.[1] ?? 0),
      column: Number(position?.[2] ?? 0),
    },
  };
}

function startOfUrl(text: string): number {
  const found = / (?=file:\/\/|node:|internal\/|\/|[A-Za-z]:\\|evalmachine|\[eval)/.exec(text);
  if (found !== null) return found.index;
  return text.startsWith('/') || text.startsWith('file://') ? 0 : text.lastIndexOf(' ') + 1;
}

/** Parses `code-deopt,854388,576,0x7ff3,0,74,deopt-eager,</app.js:2:49> inlined at </app.js:3:29>,wrong map`. */
function parseDeopt(fields: string[]): CodeDeopt | undefined {
  const [, micros, , address, , , kind, where, reason] = fields;
  if (where === undefined) return undefined;
  const stack = [...where.matchAll(/<([^>]*):(\d+):(\d+)>/g)].map(([, url, line, column]) => ({
    url: url!,
    line: Number(line),
    column: Number(column),
  }));
  return {
    type: 'deopt',
    micros: Number(micros),
    address: address!,
    kind: kind!.replace(/^deopt-/, ''),
    reason: reason || 'no reason given',
    stack,
  };
}

/** Parses `code-source-info,0x7ff3,88,0,1232,C0O0…,F0O1I0,S0x33d6S0x33d7`: the last column names the inlined functions. */
function parseSource(fields: string[]): CodeSource {
  const sharedInfos = [...(fields[7] ?? '').matchAll(/S(0x[0-9a-f]+)/g)].map(([, info]) => info!);
  const [, address, , start, end] = fields;
  return { type: 'source', address: address!, start: Number(start), end: Number(end), sharedInfos };
}

/** Parses `script-source,89,/srv/app.js,'use strict';\n…`: a text with its line ends, commas and the like escaped. */
function parseScript(line: string): ScriptSource | undefined {
  const [head, url] = /^script-source,\d+,([^,]*),/.exec(line) ?? [];
  if (head === undefined) return undefined;
  const lineStarts = [0];
  let escaped = head.length;
  const escapes = /\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|.)/g;
  escapes.lastIndex = head.length;
  for (let found = escapes.exec(line); found !== null; found = escapes.exec(line)) {
    const at = found.index - escaped;
    escaped += found[0].length - 1;
    if (found[0] === '\\n') lineStarts.push(at + 1);
  }
  return { type: 'script', url: unescape(url!), lineStarts };
}

/** Returns the path of a script: with the inspector on, profiles name scripts by URL, while the log has the path. */
export function scriptOf(url: string): string {
  return url.startsWith('file://') ? decodeURIComponent(url.slice('file://'.length)) : url;
}

/** Parses a move: newer versions have a time before the addresses, older ones do not. */
function parseMove<Type extends 'moved' | 'shared-info-moved'>(
  fields: string[],
  type: Type,
): { type: Type; from: string; to: string } | undefined {
  const [from, to] = fields.filter((field) => field.startsWith('0x'));
  return from === undefined || to === undefined ? undefined : { type, from, to };
}

/** Splits a line into columns: quoted in Node 8, and with `\x2C` for a comma inside one in all versions. */
function fieldsOf(line: string): string[] {
  const columns = line.includes('"') ? splitQuoted(line) : line.split(',');
  return columns.map((column) => (column.includes('\\') ? unescape(column) : column));
}

function splitQuoted(line: string): string[] {
  return [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
    ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '',
  );
}

function unescape(text: string): string {
  return text.replace(
    /\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|(n)|(.))/g,
    (...parts: string[]) => {
      const [, byte, unit, newline, other] = parts;
      const code = byte ?? unit;
      if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
      return newline === undefined ? other! : '\n';
    },
  );
}
