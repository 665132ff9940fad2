import { randomBytes, randomInt } from 'node:crypto';
import type { RequestConfig } from '../config/types.ts';

/**
 * What stands in a request for something that is new in each: `{{id}}`, a whole number of 16 digits, and `{{uuid}}`. Both are
 * counted up from a random start, in every process that sends: no two are alike, within a run and from run to run. They are
 * always as long, so that a request can be prepared.
 */
const placeholder = /\{\{(id|uuid)\}\}/g;

type Request = Required<RequestConfig>;

/** One number is behind both. */
export interface FreshId {
  id: string;
  uuid: string;
}

export interface FreshIdStart {
  /** Below 2 ** 53 with a million million after it. */
  id: number;
  /** All of a UUID but its last twelve digits. */
  uuid: string;
  /** Those, below 2 ** 48 likewise. */
  uuidEnd: number;
}

export function freshIdStart(): FreshIdStart {
  const hex = randomBytes(9).toString('hex');
  return {
    id: 1e15 + randomInt(2 ** 47) * 40,
    uuid: `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(12, 15)}-a${hex.slice(15, 18)}-`,
    uuidEnd: randomInt(2 ** 47),
  };
}

export class FreshIds {
  readonly #start = freshIdStart();
  #count = 0;

  next(): FreshId {
    const { id, uuid, uuidEnd } = this.#start;
    this.#count++;
    return {
      id: String(id + this.#count),
      uuid: uuid + (uuidEnd + this.#count).toString(16).padStart(12, '0'),
    };
  }
}

export function needsFreshId({ path, body, headers }: Request): boolean {
  return [path, body, ...Object.values(headers)].some((text) => text.search(placeholder) >= 0);
}

/** All placeholders of one request get the same id: the key in a header is that in the body. */
export function withFreshId(request: Request, fresh: FreshId): Request {
  const fill = (text: string): string =>
    text.replaceAll(placeholder, (_, kind: keyof FreshId) => fresh[kind]);
  return {
    ...request,
    path: fill(request.path),
    body: fill(request.body),
    headers: Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, fill(value)]),
    ),
  };
}

/** A response that repeats the id is the same response. */
export function withoutFreshId(text: string, { id, uuid }: FreshId): string {
  return text.replaceAll(uuid, '{{uuid}}').replaceAll(id, '{{id}}');
}
