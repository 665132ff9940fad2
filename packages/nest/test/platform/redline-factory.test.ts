import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { describe, it } from 'node:test';

import {
  Body,
  Controller,
  Get,
  Logger,
  Module,
  Param,
  Post,
  Res,
  StreamableFile,
} from '@nestjs/common';
import type { INestApplication } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { NestFactory } from '@nestjs/core';
import { serverFactory } from '@redline/http';
import { engine, PlatformError, RedlineFactory } from '@redline/nest';

/** What `held` waits for. */
const gate = new EventEmitter();

@Controller()
class ThingController {
  @Get('things/:id')
  find(@Param('id') id: string): object {
    return { id };
  }

  @Post('things')
  add(@Body() body: object): object {
    return { added: body };
  }

  @Get('fails')
  fails(): never {
    throw new Error('not for the client');
  }

  @Get('file')
  file(): StreamableFile {
    return new StreamableFile(Buffer.alloc(200_000, 'f'));
  }

  @Get('slow')
  async slow(): Promise<string> {
    await new Promise((resolve) => setTimeout(resolve, 50));
    return 'drained';
  }

  @Get('held')
  async held(): Promise<string> {
    const opened = once(gate, 'open');
    gate.emit('waiting');
    await opened;
    return 'released';
  }

  @Get('raw')
  raw(@Res() response: { status: (code: number) => { send: (body: string) => void } }): void {
    response.status(418).send('raw');
  }
}

@Module({ controllers: [ThingController] })
class ThingModule {}

const isServedByEngine = (server: Server): boolean =>
  server.constructor !== createServer().constructor;

const listen = async (app: INestApplication): Promise<string> => {
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
};

const ask = async (url: string, init: RequestInit = {}): Promise<unknown> => {
  const response = await fetch(url, init);
  const text = await response.text();
  return [
    response.status,
    response.headers.get('content-type'),
    text.length > 500 ? text.length : text,
  ];
};

const askAll = async (app: INestApplication): Promise<unknown> => {
  try {
    const base = await listen(app);
    const headers = { 'content-type': 'application/json' };
    return [
      await ask(`${base}/things/7?a=b`),
      await ask(`${base}/things`, { method: 'POST', headers, body: '{"a":[1,2]}' }),
      await ask(`${base}/things`, { method: 'POST', headers, body: '{' }),
      await ask(`${base}/things/7`, { method: 'HEAD' }),
      await ask(`${base}/fails`),
      await ask(`${base}/nowhere`),
      await ask(`${base}/file`),
      await ask(`${base}/raw`),
    ];
  } finally {
    await app.close();
  }
};

/** A connection that is kept, what came on it, and its end. */
const hold = async (base: string, path: string) => {
  const socket = connect(Number(new URL(base).port), '127.0.0.1');
  const held = { socket, received: '', ended: once(socket, 'close') };
  socket.setEncoding('latin1').on('data', (text: string) => (held.received += text));
  await once(socket, 'connect');
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
  return held;
};

/** Closes the app beside a connection between two requests and one whose answer is due. */
const closeBesideKeptConnections = async (app: INestApplication): Promise<unknown> => {
  const base = await listen(app);
  const idle = await hold(base, '/things/1');
  await once(idle.socket, 'data');
  const waiting = once(gate, 'waiting');
  const busy = await hold(base, '/held');
  await waiting;
  const closed = app.close();
  await idle.ended;
  gate.emit('open');
  while (!busy.received.endsWith('released')) await once(busy.socket, 'data');
  busy.socket.end();
  await Promise.all([closed, busy.ended]);
  return [idle, busy].map(({ received }) => received.replace(/^Date: .*$/im, ''));
};

describe('RedlineFactory.create', () => {
  const quiet = { logger: false } as const;

  it('answers as Nest on Fastify does', async () => {
    const expected = await askAll(
      await NestFactory.create(ThingModule, new FastifyAdapter(), quiet),
    );
    const app = await RedlineFactory.create(ThingModule, quiet);
    assert.equal(isServedByEngine(app.getHttpServer()), engine().name === 'native');
    assert.deepEqual(await askAll(app), expected);
  });

  it('answers as Nest on Express does, with adapter: express', async () => {
    const expected = await askAll(await NestFactory.create(ThingModule, quiet));
    const app = await RedlineFactory.create<INestApplication>(ThingModule, {
      ...quiet,
      adapter: 'express',
    });
    assert.equal(isServedByEngine(app.getHttpServer()), engine().name === 'native');
    assert.deepEqual(await askAll(app), expected);
  });

  it('closes beside kept connections as Nest on Fastify does', async () => {
    const expected = await closeBesideKeptConnections(
      await NestFactory.create(ThingModule, new FastifyAdapter(), quiet),
    );
    const app = await RedlineFactory.create(ThingModule, quiet);
    assert.deepEqual(await closeBesideKeptConnections(app), expected);
  });

  it('closes beside kept connections as Nest on Express does', async () => {
    const expected = await closeBesideKeptConnections(await NestFactory.create(ThingModule, quiet));
    const app = await RedlineFactory.create<INestApplication>(ThingModule, {
      ...quiet,
      adapter: 'express',
    });
    assert.deepEqual(await closeBesideKeptConnections(app), expected);
  });

  it('hands options to Fastify', async () => {
    const app = await RedlineFactory.create(ThingModule, {
      ...quiet,
      fastify: { bodyLimit: 10, keepAliveTimeout: 4_321 },
    });
    const base = await listen(app);
    const [status] = (await ask(`${base}/things`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"more":"than ten bytes"}',
    })) as [number];
    assert.equal(status, 413);
    assert.equal((app.getHttpServer() as Server).keepAliveTimeout, 4_321);
    await app.close();
  });

  it('puts an adapter of one’s own on the engine by its serverFactory', async () => {
    const adapter = new FastifyAdapter({ serverFactory } as never);
    const app = await NestFactory.create(ThingModule, adapter, quiet);
    assert.equal(isServedByEngine(app.getHttpServer()), engine().name === 'native');
    assert.deepEqual(await ask(`${await listen(app)}/raw`), [
      418,
      'text/plain; charset=utf-8',
      'raw',
    ]);
    await app.close();
  });

  for (const adapter of ['fastify', 'express'] as const) {
    it(`drains on close: ${adapter}`, async () => {
      const app = await RedlineFactory.create<INestApplication>(ThingModule, { ...quiet, adapter });
      const base = await listen(app);
      const arrived = once(app.getHttpServer(), 'request');
      const answer = once(get(`${base}/slow`, { agent: false }), 'response');
      await arrived;
      const closed = app.close();
      const [response] = (await answer) as [IncomingMessage];
      let body = '';
      for await (const chunk of response) body += String(chunk);
      assert.equal(body, 'drained');
      await closed;
    });

    it(`forceCloseConnections ends what is idle: ${adapter}`, async () => {
      const app = await RedlineFactory.create<INestApplication>(ThingModule, {
        ...quiet,
        adapter,
        forceCloseConnections: true,
      });
      const { port } = new URL(await listen(app));
      const socket = connect(Number(port), '127.0.0.1');
      await once(socket, 'connect');
      const ended = new Promise((resolve) => socket.on('close', resolve));
      socket.on('error', () => {}).resume();
      socket.write('GET /things/1 HTTP/1.1\r\nHost: a\r\n\r\n');
      await once(socket, 'data');
      await app.close();
      await ended;
    });
  }

  it('says that TLS and HTTP/2 are Node’s', async (t) => {
    const lines: unknown[] = [];
    t.mock.method(Logger.prototype, 'log', (line: unknown) => void lines.push(line));
    const app = await RedlineFactory.create(ThingModule, { fastify: { http2: true } as never });
    await app.listen(0, '127.0.0.1');
    await app.close();
    const reason =
      engine().name === 'native' ? 'HTTP/2 is Node’s own' : Reflect.get(engine(), 'reason');
    assert.deepEqual(
      lines.filter((line) => String(line).startsWith('HTTP is served')),
      [`HTTP is served by Node: ${reason}.`],
    );
  });

  it('refuses an adapter that is made already, and says what to do', async () => {
    const adapters = [
      [new FastifyAdapter(), "FastifyAdapter: give RedlineFactory { adapter: 'fastify', fastify: "],
      [new ExpressAdapter(), "ExpressAdapter: give RedlineFactory { adapter: 'express' }."],
    ] as const;
    for (const [adapter, says] of adapters) {
      for (const given of [adapter, { adapter }]) {
        await assert.rejects(
          RedlineFactory.create(ThingModule, given as never),
          (error: unknown) =>
            error instanceof PlatformError &&
            error.code === 'ERR_REDLINE_PLATFORM_OPTION' &&
            error.message.includes(says),
        );
      }
    }
  });

  it('refuses what is not an object where options belong', async () => {
    for (const [given, of] of [
      [5, 'RedlineFactory'],
      [{ fastify: 5 }, 'Fastify'],
    ] as const)
      await assert.rejects(RedlineFactory.create(ThingModule, given as never), {
        code: 'ERR_REDLINE_PLATFORM_OPTION',
        message: `The options of ${of} must be an object; got 5.`,
      });
  });

  it('refuses options of Fastify beside adapter: express', async () => {
    await assert.rejects(
      RedlineFactory.create(ThingModule, { adapter: 'express', fastify: { bodyLimit: 1 } }),
      { code: 'ERR_REDLINE_PLATFORM_OPTION', message: /The option fastify is for adapter/ },
    );
  });

  it('refuses an adapter it does not know', async () => {
    await assert.rejects(
      RedlineFactory.create(ThingModule, { adapter: 'koa' as never }),
      (error: unknown) =>
        error instanceof PlatformError &&
        error.code === 'ERR_REDLINE_PLATFORM_OPTION' &&
        /'koa'/.test(error.message),
    );
  });
});
