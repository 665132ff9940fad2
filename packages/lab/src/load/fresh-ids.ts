import { randomBytes, randomInt } from 'node:crypto';
import type { RequestConfig } from '../config/types.ts';

/**
 * Placeholders for a value that is new in each request: `{{id}}`, a whole number of 16 digits, and `{{uuid}}`. Both are counted up
 * from a random start, in every process that sends: no two are alike, within a run or between runs. Their length is fixed, so that
 * a request can be prepared.
 */
const placeholder = /\{\{(id|uuid)\}\}/g;

type Request = Required<RequestConfig>;

/** Both come from the same number. */
export interface FreshId {
  id: string;
  uuid: string;
}

export interface FreshIdStart {
  /** Below 2 ** 53, even after adding a million million. */
  id: number;
  /** A UUID without its last twelve digits. */
  uuid: string;
  /** The last twelve digits, likewise below 2 ** 48. */
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

/** Fills all placeholders of a request with the same id: the key in a header equals that in the body. */
export function withFreshId(request: Request, fresh: FreshId): Request {
  return {
    ...request,
    path: fillIn(request.path, fresh),
    body: fillIn(request.body, fresh),
    headers: Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, fillIn(value, fresh)]),
    ),
  };
}

export function fillIn(text: string, fresh: FreshId): string {
  return text.replaceAll(placeholder, (_, kind: keyof FreshId) => fresh[kind]);
}

/** Removes the id from a response: one that repeats it is the same response. */
export function withoutFreshId(text: string, { id, uuid }: FreshId): string {
  return text.replaceAll(uuid, '{{uuid}}').replaceAll(id, '{{id}}');
}
