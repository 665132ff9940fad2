import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { Controller, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter, type NestExpressApplication } from '@nestjs/platform-express';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { defer, defineJob, nodeFs, type JournalFs } from '@redline/defer';
import { DeferModule } from '@redline/nest';
import { onBothFrameworks, Received, until } from './harness.ts';

const seen = defineJob<string>('seen');

@Controller()
class Routes {
  @Get()
  get(): object {
    return { ok: true };
  }
}

/* As an access log does it that counts what was sent. */
function watch(response: ServerResponse, name: 'end' | 'writeHead'): void {
  const original = response[name] as (...args: unknown[]) => never;
  response[name] = function (this: ServerResponse, ...args: unknown[]) {
    defer(seen, name, { level: 'process', when: 'success' });
    return original.apply(this, args);
  } as never;
}

onBothFrameworks('a response whose methods main.ts wraps', (framework) => {
  for (const name of ['end', 'writeHead', 'nothing'] as const) {
    const what = name === 'nothing' ? 'a middleware' : `the wrapper of ${name}()`;
    it(`waits for what ${what} defers`, async (t) => {
      const directory = mkdtempSync(join(tmpdir(), 'redline-nest-'));
      let isFull = false;
      const fs: JournalFs = {
        ...nodeFs,
        writeSync(...args) {
          if (isFull) throw new Error('ENOSPC');
          return nodeFs.writeSync(...args);
        },
      };
      const sink = new Received();

      @Module({
        imports: [
          DeferModule.forRoot({
            sinks: { received: sink },
            journal: { directory, fs },
            logger: false,
            handleSignals: false,
          }),
        ],
        controllers: [Routes],
      })
      class AppModule {}

      const adapter = framework === 'fastify' ? new FastifyAdapter() : new ExpressAdapter();
      const app = await NestFactory.create<NestExpressApplication & NestFastifyApplication>(
        AppModule,
        adapter as never,
        { logger: false, abortOnError: false, forceCloseConnections: true },
      );
      t.after(async () => {
        await app.close();
        rmSync(directory, { recursive: true, force: true });
      });
      // Fastify gives a middleware the response itself, too.
      app.use((_request: unknown, response: ServerResponse, next: () => void) => {
        if (name === 'nothing') defer(seen, name, { level: 'process', when: 'success' });
        else watch(response, name);
        next();
      });
      await app.listen(0, '127.0.0.1');
      const server = app.getHttpServer();
      if (!server.listening) await once(server, 'listening');
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

      const response = await fetch(url);
      assert.deepEqual([response.status, await response.json()], [200, { ok: true }]);
      await until('the job', () => sink.deliveries.length === 1);
      isFull = true;
      // Fastify makes the header ahead of `end()`, and what has begun to leave is cut off.
      const refused = await fetch(url).then(
        ({ status }) => status,
        () => 'cut off',
      );
      assert.equal(refused, framework === 'fastify' && name === 'end' ? 'cut off' : 503);
      isFull = false;
      assert.equal((await fetch(url)).status, 200);
      await until('the second job', () => sink.deliveries.length === 2);
    });
  }
});
