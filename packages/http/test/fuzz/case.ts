import type { Draw } from './draw.ts';

/** One thing a handler does. What it waits for is a step of its own. */
export type Step =
  | { do: 'writeHead'; status: number; headers: Record<string, string> }
  | { do: 'setHeader'; name: string; value: string }
  /** `uncorks`: the socket, when it throws. No case is drawn with it, see explained/remedies.ts. */
  | { do: 'write' | 'end'; bytes: number; uncorks?: boolean }
  | { do: 'socketWrite'; text: string }
  | { do: 'timeout'; ms: number }
  /** A stream of a file of that many bytes, piped, not waited for. */
  | { do: 'pipeFile'; bytes: number; options: FileOptions }
  | { do: Plain };

const plain = [
  'cork',
  'uncork',
  'flushHeaders',
  'addTrailers',
  'writeContinue',
  'writeProcessing',
  'destroy',
  'destroyError',
  'requestDestroy',
  'requestResume',
  'requestPause',
  'readAll',
  'socketEnd',
  'socketDestroy',
  'socketDestroySoon',
  'socketPause',
  'socketResume',
  'tick',
  'microtask',
  'immediate',
] as const;
/** Only for handlers that pipe a file. */
const withFile = ['filesClosed'] as const;
type Plain = (typeof plain | typeof withFile)[number];

export interface FileOptions {
  start?: number;
  end?: number;
  highWaterMark?: number;
  /** False: `pipe` leaves the response open. */
  ends?: boolean;
}

/** What a client sends on one connection, and what the handlers do, by the order of their requests. */
export interface Case {
  /** Latin-1. */
  bytes: string;
  /** Where the bytes are cut; the pieces arrive in turns of their own. */
  cuts: number[];
  /** What the client does when all is sent. */
  ending: 'wait' | 'end' | 'destroy';
  /** A request without one is answered with what was heard of it. */
  programs: Step[][];
}

/** A pipeline of sound requests, and a handler of random steps for each. */
export function programCase(draw: Draw): Case {
  const requests = draw.list(4, () => soundRequest(draw));
  const programs = requests.map(() => program(draw));
  return { ...sent(draw, requests.join('')), programs };
}

/** A pipeline with a few bytes changed. Handlers say what they heard. */
export function byteCase(draw: Draw): Case {
  let bytes = draw.list(4, () => soundRequest(draw)).join('');
  for (let left = draw.below(4); left > 0; left--) bytes = mutated(draw, bytes);
  return { ...sent(draw, bytes), programs: [] };
}

/** A pipeline of requests for files. Clients that leave do so at moments that differ from run to run, so these wait. */
export function fileCase(draw: Draw): Case {
  const requests = draw.list(3, () => fileRequest(draw));
  const programs = requests.map(() => fileProgram(draw, requests.length === 1));
  return { ...sent(draw, requests.join('')), ending: 'wait', programs };
}

function fileRequest(draw: Draw): string {
  const lines = ['Host: a'];
  if (draw.chance(0.1)) lines.push('Connection: close');
  const method = draw.of(['GET', 'GET', 'GET', 'GET', 'HEAD']);
  return head(method, '/file', draw.chance(0.1) ? '1.0' : '1.1', lines);
}

/** Reads take as long as they take: what comes behind one that is not waited for comes before its first byte. */
function fileProgram(draw: Draw, isAlone: boolean): Step[] {
  const before = draw.chance(0.5) ? draw.list(2, () => headStep(draw)) : [];
  const steps = draw.list(2, () => pipedFile(draw, isAlone)).flat();
  return draw.chance(0.7)
    ? [...before, ...steps, { do: 'end', bytes: draw.of([0, 5]) }]
    : [...before, ...steps];
}

function headStep(draw: Draw): Step {
  if (draw.chance(0.3)) return { do: 'write', bytes: draw.of([1, 200, 100_000]) };
  if (draw.chance(0.3)) {
    const headers = draw.chance(0.5) ? {} : draw.of(heads);
    return { do: 'writeHead', status: draw.of([200, 200, 206, 204, 304]), headers };
  }
  if (draw.chance(0.3)) return { do: 'setHeader', ...draw.of(fields) };
  return {
    do: draw.of(['flushHeaders', 'cork', 'uncork', 'addTrailers', 'socketPause', 'immediate']),
  };
}

function pipedFile(draw: Draw, isAlone: boolean): Step[] {
  const bytes = draw.of([0, 100, 65_536, 65_537, 200_000, 1_500_000]);
  const options: FileOptions = {};
  if (draw.chance(0.2)) options.start = draw.below(bytes + 1);
  if (draw.chance(0.2)) options.end = (options.start ?? 0) + draw.below(bytes + 1);
  if (draw.chance(0.1)) options.highWaterMark = draw.of([1_000, 16_384, 300_000]);
  if (draw.chance(0.5)) options.ends = false;
  const piped: Step = { do: 'pipeFile', bytes, options };
  // A file of a response before it would be cut short somewhere.
  if (isAlone && draw.chance(0.2))
    return [piped, { do: draw.of(['destroy', 'requestDestroy', 'socketEnd']) }];
  if (draw.chance(0.1)) return [piped, { do: 'write', bytes: 10 }, { do: 'filesClosed' }];
  return [piped, { do: 'filesClosed' }];
}

function sent(draw: Draw, bytes: string): Omit<Case, 'programs'> {
  const cuts = draw.chance(0.5) ? [] : draw.list(4, () => 1 + draw.below(bytes.length - 1));
  const ending = draw.chance(0.75) ? 'wait' : draw.of(['end', 'destroy'] as const);
  return { bytes, cuts: [...new Set(cuts)].toSorted((a, b) => a - b), ending };
}

function program(draw: Draw): Step[] {
  const steps = draw.list(8, () => step(draw));
  // Most handlers end their response sooner or later.
  return draw.chance(0.8) ? [...steps, { do: 'end', bytes: draw.of([0, 0, 5, 3_000]) }] : steps;
}

function step(draw: Draw): Step {
  if (draw.chance(0.3)) return { do: 'write', bytes: draw.of([0, 1, 10, 200, 5_000, 100_000]) };
  if (draw.chance(0.15)) return { do: 'end', bytes: draw.of([0, 4, 2_000]) };
  if (draw.chance(0.15)) {
    const status = draw.of([200, 200, 200, 204, 304, 404, 500]);
    return { do: 'writeHead', status, headers: draw.of(heads) };
  }
  if (draw.chance(0.1)) return { do: 'setHeader', ...draw.of(fields) };
  if (draw.chance(0.05)) return { do: 'socketWrite', text: 'HTTP/1.1 299 Raw\r\n\r\n' };
  if (draw.chance(0.1)) return { do: 'timeout', ms: draw.of([1, 5]) };
  return { do: draw.of(plain) };
}

const heads: Record<string, string>[] = [
  {},
  { 'Content-Length': '0' },
  { 'Content-Length': '5' },
  { 'Transfer-Encoding': 'chunked' },
  { Connection: 'close' },
  { Connection: 'close', 'Content-Length': '10' },
  { Trailer: 'X-Sum' },
];
const fields = [
  { name: 'X-A', value: 'b' },
  { name: 'Connection', value: 'close' },
  { name: 'Connection', value: 'keep-alive' },
  { name: 'Content-Length', value: '5' },
  { name: 'Date', value: 'today' },
];

function soundRequest(draw: Draw): string {
  const version = draw.chance(0.1) ? '1.0' : '1.1';
  const lines = [`Host: a`];
  if (draw.chance(0.15)) lines.push(`Connection: ${draw.of(['close', 'keep-alive', 'Close'])}`);
  if (draw.chance(0.06)) lines.push('Expect: 100-continue');
  const path = draw.of(['/', '/a?b=c', '/%20']);
  if (draw.chance(0.6)) {
    return head(draw.of(['GET', 'GET', 'GET', 'HEAD', 'DELETE']), path, version, lines);
  }
  const body = 'x'.repeat(draw.of([0, 1, 5, 100, 3_000]));
  if (draw.chance(0.5)) {
    return head('POST', path, version, [...lines, `Content-Length: ${body.length}`]) + body;
  }
  const chunk = body === '' ? '' : `${body.length.toString(16)}\r\n${body}\r\n`;
  const trailer = draw.chance(0.2) ? 'X-T: u\r\n' : '';
  return `${head('POST', path, version, [...lines, 'Transfer-Encoding: chunked'])}${chunk}0\r\n${trailer}\r\n`;
}

function head(method: string, path: string, version: string, lines: string[]): string {
  return `${method} ${path} HTTP/${version}\r\n${lines.join('\r\n')}\r\n\r\n`;
}

const tokens = [
  '\r',
  '\n',
  '\r\n',
  '\r\n\r\n',
  ' ',
  '\t',
  ':',
  '\0',
  ',',
  ';',
  '0',
  'a',
  '\x7f',
  '\xe9',
  '"',

  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding: gzip\r\n',
  'Content-Length: 5\r\n',
  'Content-Length: 0\r\n',
  'Connection: close\r\n',
  'Connection: upgrade\r\nUpgrade: x\r\n',
  'Expect: 100-continue\r\n',
  'Host: b\r\n',
  'chunked',
  'HTTP/1.0',
  'ffffffffffffffffff',
  'GET / HTTP/1.1\r\n',
];

function mutated(draw: Draw, bytes: string): string {
  const at = draw.below(bytes.length + 1);
  const upTo = Math.min(bytes.length, at + 1 + draw.below(6));
  switch (draw.below(4)) {
    case 0:
      return bytes.slice(0, at) + draw.of(tokens) + bytes.slice(at);
    case 1:
      return bytes.slice(0, at) + draw.of(tokens) + bytes.slice(upTo);
    case 2:
      return bytes.slice(0, at) + bytes.slice(upTo) || 'G';
    default:
      return bytes.slice(0, upTo) + bytes.slice(at);
  }
}
