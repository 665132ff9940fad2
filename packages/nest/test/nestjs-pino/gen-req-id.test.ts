import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { Controller, Get, Module } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { NestFactory } from '@nestjs/core';
import { LoggerModule } from '@redline/nest/nestjs-pino';

@Controller()
class AnyController {
  @Get()
  get(): object {
    return { isServed: true };
  }
}

for (const Adapter of [FastifyAdapter, ExpressAdapter]) {
  describe(`genReqId of the compatible module, on ${Adapter.name}`, () => {
    it('may set a header of the response, as in the README of pino-http', async () => {
      const lines: string[] = [];
      const pinoHttp = {
        stream: { write: (line: string) => void lines.push(line) },
        genReqId(_request: unknown, response: { setHeader(name: string, value: string): void }) {
          response.setHeader('X-Request-Id', 'own-1');
          return 'own-1';
        },
      };
      @Module({
        imports: [LoggerModule.forRoot({ pinoHttp: pinoHttp as never })],
        controllers: [AnyController],
      })
      class App {}
      const app = await NestFactory.create(App, new Adapter(), { logger: false });
      await app.listen(0, '127.0.0.1');
      const response = await fetch(await app.getUrl());
      assert.equal(response.status, 200);
      assert.equal(response.headers.get('x-request-id'), 'own-1');
      assert.equal(await response.text(), '{"isServed":true}');
      await app.close();
      assert.ok(lines.some((line) => line.includes('"own-1"')));
    });
  });
}
