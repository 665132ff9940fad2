import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { describe } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import type { DynamicModule, NestApplicationOptions } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { serverFactory } from '@redline/http';
import { type LoggerModuleOptions, NestLogger, RedlineFactory } from '@redline/nest';

import { appModule } from './fixture-app.js';

export interface Line {
  [field: string]: unknown;
  level: number;
  msg?: string;
  reqId?: string;
  err?: { type: string; message: string; stack: string };
}

/** A destination that remembers. */
export class Lines {
  readonly raw: string[] = [];

  write(line: string): void {
    this.raw.push(line);
  }

  get all(): Line[] {
    return this.raw.map((line) => JSON.parse(line) as Line);
  }

  /** The lines of responses. */
  get responses(): Line[] {
    return this.all.filter((line) => 'responseTime' in line);
  }

  /** Waits until `count` response lines are there; a little longer, in case there are more. */
  async settled(count: number): Promise<Line[]> {
    for (let waited = 0; this.responses.length < count && waited < 60_000; waited += 5)
      await sleep(5);
    await sleep(30);
    return this.responses;
  }
}

export interface RunningApp extends AsyncDisposable {
  readonly app: NestFastifyApplication;
  readonly lines: Lines;
  readonly port: number;
  readonly url: string;
}

/** Framework and engine; the same sentences hold on each. */
export const platforms = ['fastify', 'fastify-engine', 'express', 'express-engine'] as const;
export type Platform = (typeof platforms)[number];

export function onEachPlatform(what: string, suite: (on: { platform: Platform }) => void): void {
  for (const platform of platforms) describe(`${what}, on ${platform}`, () => suite({ platform }));
}

function createApp(
  platform: Platform,
  module: DynamicModule,
  options: NestApplicationOptions,
): Promise<NestFastifyApplication> {
  switch (platform) {
    case 'express':
      return NestFactory.create(module, new ExpressAdapter(), options);
    case 'express-engine':
      return RedlineFactory.create(module, { ...options, adapter: 'express' });
    case 'fastify-engine':
      return NestFactory.create(module, new FastifyAdapter({ serverFactory } as never), options);
    case 'fastify':
      return NestFactory.create(module, new FastifyAdapter(), options);
  }
}

/** Starts the fixture app, or another, with its lines in memory. */
export async function start(
  options: LoggerModuleOptions = {},
  {
    adapter,
    platform = 'fastify',
    module = (given: LoggerModuleOptions) => appModule(given),
    nestLogger = false,
    prepare = (_app: NestFastifyApplication): void => {},
  }: {
    adapter?: FastifyAdapter;
    platform?: Platform;
    module?: (options: LoggerModuleOptions) => DynamicModule;
    nestLogger?: boolean;
    prepare?: (app: NestFastifyApplication) => void;
  } = {},
): Promise<RunningApp> {
  const lines = new Lines();
  const root = module({ destination: lines, ...options });
  const settings = {
    abortOnError: false,
    ...(nestLogger ? { bufferLogs: true } : { logger: false as const }),
  };
  const app =
    adapter === undefined
      ? await createApp(platform, root, settings)
      : await NestFactory.create<NestFastifyApplication>(root, adapter, settings);
  if (nestLogger) app.useLogger(app.get(NestLogger));
  prepare(app);
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as { port: number };
  return {
    app,
    lines,
    port,
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: () => app.close(),
  };
}

/** Sends bytes on one connection and returns what came back once the server is done. */
export function sendRaw(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => void socket.write(bytes));
    let received = '';
    socket.setEncoding('utf8');
    socket.on('data', (text: string) => {
      received += text;
    });
    socket.on('end', () => resolve(received));
    socket.on('error', reject);
  });
}

/** Sends a request, and leaves a moment after the server has it, or after the response has begun. */
export async function leave(
  port: number,
  path: string,
  {
    method = 'GET',
    body = '',
    once = 'requested',
  }: { method?: string; body?: string; once?: 'requested' | 'answered' } = {},
): Promise<void> {
  const sent = httpRequest({
    port,
    host: '127.0.0.1',
    path,
    method,
    agent: false,
    headers:
      body === '' ? {} : { 'content-type': 'application/json', 'content-length': body.length },
  });
  const { promise: isThere, resolve } = Promise.withResolvers<void>();
  const onStart = (): void => {
    if (once === 'requested') resolve();
  };
  subscribe('http.server.request.start', onStart);
  sent.on('error', () => {});
  sent.on('response', (response) => {
    response.on('error', () => {}).resume();
    resolve();
  });
  sent.end(body);
  await isThere;
  unsubscribe('http.server.request.start', onStart);
  await sleep(60);
  sent.destroy();
}
