import type { IncomingMessage, ServerResponse } from 'node:http';
import { performance } from 'node:perf_hooks';

import { RequestLog } from './request-log.ts';

/** The part of Express that is used; its types are not installed in an app on Fastify. */
export interface ExpressRequest extends IncomingMessage {
  id?: unknown;
  log?: unknown;
  readonly originalUrl?: string;
  readonly baseUrl?: string;
  readonly route?: { readonly path: unknown };
  readonly ip?: string | undefined;
}

export interface ExpressResponse extends ServerResponse {
  log?: unknown;
}

export class ExpressRequestLog extends RequestLog {
  declare readonly request: ExpressRequest;
  declare readonly reply: ExpressResponse;
  readonly #since: number = performance.now();

  override get id(): string {
    return this.request.id as string;
  }

  override get rawRequest(): IncomingMessage {
    return this.request;
  }

  override get rawReply(): ServerResponse {
    return this.reply;
  }

  // Express removes a router's own path from `url`.
  override get url(): string {
    return this.request.originalUrl ?? (this.request.url as string);
  }

  override get elapsedMs(): number {
    return performance.now() - this.#since;
  }

  override get route(): string | undefined {
    const { route, baseUrl = '' } = this.request;
    return typeof route?.path === 'string' ? baseUrl + route.path : undefined;
  }

  override get ip(): string | undefined {
    return this.request.ip;
  }

  override get host(): string | undefined {
    return this.request.headers.host;
  }
}
