// VARIANT: plain, blocking, interceptor, memory, process, disk, process-sealed, disk-sealed. PLATFORM: express, fastify. SINK: see job-queue.ts.
// JOURNAL: the folder of the levels process and disk; one of its own in the temporary folder where it is not given.
import 'reflect-metadata';
import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Global, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { SealOptions } from '@redline/defer';
import { blocking } from './blocking.ts';
import { deferred } from './deferred.ts';
import { interceptor } from './interceptor.ts';
import { plain } from './plain.ts';
import { ProbeController } from './probe.ts';
import type { Variant } from './variant.ts';
import { WatchedQueue } from './watched-queue.ts';

const variants: Record<string, () => Variant> = {
  plain: () => plain,
  blocking: () => blocking,
  interceptor: () => interceptor,
  memory: () => deferred('memory', undefined),
  process: () => deferred('process', journalFolder()),
  disk: () => deferred('disk', journalFolder()),
  'process-sealed': () => deferred('process', journalFolder(), seal()),
  'disk-sealed': () => deferred('disk', journalFolder(), seal()),
};

const { VARIANT = 'memory', PLATFORM = 'fastify', PORT = '3000', HOST = '127.0.0.1' } = process.env;
const choose = variants[VARIANT];
if (choose === undefined || (PLATFORM !== 'fastify' && PLATFORM !== 'express')) {
  throw new Error(
    `VARIANT is "${VARIANT}" and PLATFORM "${PLATFORM}": choose of ${Object.keys(variants).join(', ')}; express, fastify.`,
  );
}
const { controllers = [], imports = [], providers = [] } = choose();

@Global()
@Module({ providers: [WatchedQueue], exports: [WatchedQueue] })
class QueueModule {}

@Module({
  imports: [QueueModule, ...imports],
  controllers: [...controllers, ProbeController],
  providers,
})
class AppModule {}

const app = await NestFactory.create(
  AppModule,
  PLATFORM === 'fastify' ? new FastifyAdapter() : new ExpressAdapter(),
  { logger: ['error', 'warn'] },
);
app.enableShutdownHooks();
await app.listen(PORT, HOST);

/** With a key of this run alone. */
function seal(): SealOptions {
  const key = randomBytes(32);
  return { currentKey: () => ({ id: 'run', key }), keyOf: () => key };
}

function journalFolder(): string {
  return process.env.JOURNAL ?? mkdtempSync(join(tmpdir(), 'deferred-work-'));
}
