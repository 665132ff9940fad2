import { http } from '../node/node-http.ts';

// Each header name is examined once per process: its validity, its meaning, and its lower-case form.

export const PLAIN = 0;
export const CONNECTION = 1;
export const TRANSFER_ENCODING = 2;
export const CONTENT_LENGTH = 3;
export const DATE = 4;
export const EXPECT = 5;
export const TRAILER = 6;
export const KEEP_ALIVE = 7;
export const CONTENT_DISPOSITION = 8;
export const COOKIE = 9;

const SPECIAL = new Map([
  ['connection', CONNECTION],
  ['transfer-encoding', TRANSFER_ENCODING],
  ['content-length', CONTENT_LENGTH],
  ['date', DATE],
  ['expect', EXPECT],
  ['trailer', TRAILER],
  ['keep-alive', KEEP_ALIVE],
  ['content-disposition', CONTENT_DISPOSITION],
  ['cookie', COOKIE],
]);

/** A valid name, its key among a response's headers, its meaning, and its last line. */
export interface Known {
  readonly lower: string;
  readonly kind: number;
  value: string;
  line: string;
}

/** Indexed by spelling. An application has few; a limit ensures it. */
const known = new Map<string, Known>();
const KNOWN_LIMIT = 1000;
/** A longer value is most likely specific to one response, and is not kept. */
export const KEPT_VALUE = 128;

const TOKEN = /^[!#$%&'*+.^`|~\w-]+$/;
export const NOT_PLAIN_ASCII: RegExp = /[^\t\x20-\x7e]/;

/** @throws like Node, for a name that is not a token */
export function headerOf(name: string): Known {
  return known.get(name) ?? learn(name);
}

/** Like `headerOf`, but returns `undefined` for anything other than a token. */
export function tokenOf(name: unknown): Known | undefined {
  return known.get(name as string) ?? (isToken(name) ? learn(name) : undefined);
}

function isToken(name: unknown): name is string {
  return typeof name === 'string' && TOKEN.test(name);
}

function learn(name: string): Known {
  http.validateHeaderName(name);
  const isKept = known.size < KNOWN_LIMIT;
  const lowerCase = name.toLowerCase();
  const lower = isKept ? internalized(lowerCase) : lowerCase;
  const kind = SPECIAL.get(lower) ?? PLAIN;
  const header = { lower, kind, value: '', line: `${name}: \r\n` };
  if (isKept) known.set(name, header);
  return header;
}

/** Returns V8's internalized copy of a property name: for any other string, V8 first looks that copy up. */
function internalized(name: string): string {
  return Object.keys({ [name]: true })[0]!;
}
