import type { RequestListener, Server } from 'node:http';

import type { NestApplicationOptions } from '@nestjs/common';
import type { AbstractHttpAdapter } from '@nestjs/core';
import { createServer } from '@redline/http';

/** The part of Nest's `ExpressAdapter` that is used; its package is not installed in an app on Fastify. */
interface ServerMaker {
  httpServer: Server;
  getInstance(): RequestListener;
  initHttpServer(options: NestApplicationOptions | undefined): void;
  trackOpenConnections(): void;
}

/** Creates an adapter on the engine. Nest's adapter creates its server itself, so that method is replaced. */
export function onEngine(Adapter: new () => AbstractHttpAdapter): AbstractHttpAdapter {
  const Base = Adapter as unknown as new () => ServerMaker;
  class EngineExpressAdapter extends Base {
    override initHttpServer(options: NestApplicationOptions | undefined): void {
      // Node serves TLS.
      if (options?.httpsOptions) return super.initHttpServer(options);
      super.initHttpServer({ ...options, forceCloseConnections: false });
      this.httpServer = createServer(this.getInstance());
      if (options?.forceCloseConnections) this.trackOpenConnections();
    }
  }
  return new EngineExpressAdapter() as unknown as AbstractHttpAdapter;
}
