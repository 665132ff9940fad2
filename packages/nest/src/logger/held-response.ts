import type { IncomingMessage } from 'node:http';

type HeaderValue = number | string | string[];

/**
 * Stands for the response of a request that Fastify gives an id before there is one: it holds the headers that are set
 * until then, as pino-http's `genReqId(request, response)` does.
 */
export class HeldResponse {
  readonly #headers = new Map<string, HeaderValue>();
  /** What the callback threw. */
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

/** What was set or thrown while the id of `request` was made, if anything was. */
export function takeHeldResponse(request: IncomingMessage): HeldResponse | undefined {
  return held.get(request);
}
