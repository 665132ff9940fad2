import type { IncomingMessage } from 'node:http';

type HeaderValue = number | string | string[];

/**
 * Stands in for the response of a request, because Fastify makes its id before the response exists: it holds the headers
 * that are set until then, as pino-http's `genReqId(request, response)` does.
 */
export class HeldResponse {
  readonly #headers = new Map<string, HeaderValue>();
  /** The error that the callback threw. */
  failure: unknown;

  setHeader(name: string, value: HeaderValue): this {
    this.#headers.set(name.toLowerCase(), value);
    return this;
  }

  getHeader(name: string): HeaderValue | undefined {
    return this.#headers.get(name.toLowerCase());
  }

  hasHeader(name: string): boolean {
    return this.#headers.has(name.toLowerCase());
  }

  removeHeader(name: string): void {
    this.#headers.delete(name.toLowerCase());
  }

  getHeaders(): Record<string, HeaderValue> {
    return Object.fromEntries(this.#headers);
  }
}

const held = new WeakMap<IncomingMessage, HeldResponse>();

export function heldResponseOf(request: IncomingMessage): HeldResponse {
  let response = held.get(request);
  if (response === undefined) held.set(request, (response = new HeldResponse()));
  return response;
}

/** Returns the headers set or the error thrown while the id of `request` was made, if any. */
export function takeHeldResponse(request: IncomingMessage): HeldResponse | undefined {
  return held.get(request);
}
