import type { IncomingMessage, ServerResponse } from 'node:http';

import type { FastifyReply, FastifyRequest } from 'fastify';

import { RequestLog } from './request-log.ts';

export class FastifyRequestLog extends RequestLog {
  declare readonly request: FastifyRequest;
  declare readonly reply: FastifyReply;

  override get id(): string {
    return this.request.id;
  }

  override get rawRequest(): IncomingMessage {
    return this.request.raw;
  }

  override get rawReply(): ServerResponse {
    return this.reply.raw;
  }

  override get url(): string {
    return this.request.raw.url as string;
  }

  override get elapsedMs(): number {
    return this.reply.elapsedTime;
  }

  override get route(): string | undefined {
    return this.request.routeOptions?.url;
  }

  override get ip(): string | undefined {
    return this.request.ip;
  }

  override get host(): string | undefined {
    return this.request.host;
  }
}
