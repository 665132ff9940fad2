// The smallest Nest app there is: serves one request, prints which engine did, and the lines of its log.
import 'reflect-metadata';
import { Controller, Get, Module } from '@nestjs/common';
import { engine, RedlineFactory } from '@redline/nest';

class HelloController {
  hello() {
    return { hello: 'world' };
  }
}
Get('/')(
  HelloController.prototype,
  'hello',
  Object.getOwnPropertyDescriptor(HelloController.prototype, 'hello'),
);
Controller()(HelloController);
class AppModule {
  configure() {}
}
Module({ controllers: [HelloController] })(AppModule);

const lines = [];
const write = (message, context) => lines.push(`${context}: ${message}`);
const logger = { log: write, warn: write, error: write, fatal: write };
const app = await RedlineFactory.create(AppModule, { logger });
await app.listen(0, '127.0.0.1');
const response = await fetch(await app.getUrl());
const answer = await response.text();
process.stdout.write(
  `${JSON.stringify({
    node: process.version,
    arch: process.arch,
    engine: engine(app.getHttpServer()),
    status: response.status,
    answer,
    lines: lines.filter((line) => line.startsWith('RedlineFactory: ')),
  })}\n`,
);
await app.close();
