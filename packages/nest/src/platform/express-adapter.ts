import type { RequestListener, Server } from 'node:http';

import type { NestApplicationOptions } from '@nestjs/common';
import type { AbstractHttpAdapter } from '@nestjs/core';
import { createServer } from '@redline/http';

/** What is used of Nest's `ExpressAdapter`; its package is not installed in an app on Fastify. */
interface ServerMaker {
  httpServer: Server;
  getInstance(): RequestListener;
  initHttpServer(options: NestApplicationOptions | undefined): void;
  trackOpenConnections(): void;
}

/** Nest's adapter makes its server itself, so that is what is replaced. */
export function onEngine(Adapter: new () => AbstractHttpAdapter): AbstractHttpAdapter {
  const Base = Adapter as unknown as new () => ServerMaker;
  class EngineExpressAdapter extends Base {
    override initHttpServer(options: NestApplicationOptions | undefined): void {
      // TLS is Node's.
      if (options?.httpsOptions) return super.initHttpServer(options);
      super.initHttpServer({ ...options, forceCloseConnections: false });
      this.httpServer = createServer(this.getInstance());
      if (options?.forceCloseConnections) this.trackOpenConnections();
    }
  }
  return new EngineExpressAdapter() as unknown as AbstractHttpAdapter;
}
