// A minimal Nest app. It sends itself typical requests, starts a child, and prints the engines in use and the line of its
// log.
import assert from 'node:assert/strict';
import 'reflect-metadata';
import { Body, Controller, Get, Module, Post } from '@nestjs/common';
import { engine as spawnEngine, execFile } from '@redline/child-process';
import { engine, RedlineFactory } from '@redline/nest';

// Applies decorators without a compiler.
const decorate = (type, name, ...decorators) => {
  const descriptor = Object.getOwnPropertyDescriptor(type.prototype, name);
  for (const decorator of decorators) decorator(type.prototype, name, descriptor);
};

class AppController {
  hello() {
    return { hello: 'world' };
  }
  echo(body) {
    return body;
  }
}
decorate(AppController, 'hello', Get('/'));
decorate(AppController, 'echo', Post('/echo'));
Body()(AppController.prototype, 'echo', 0);
Controller()(AppController);

class AppModule {
  configure() {}
}
Module({ controllers: [AppController] })(AppModule);

const lines = [];
const write = (message, context) => lines.push(`${context}: ${message}`);
const logger = { log: write, warn: write, error: write, fatal: write };
const app = await RedlineFactory.create(AppModule, { logger });
await app.listen(0, '127.0.0.1');
const url = await app.getUrl();

const first = await fetch(url);
const answer = await first.text();

const posted = { text: 'x'.repeat(100_000) };
const echoed = await fetch(new URL('/echo', url), {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(posted),
});
assert.equal(echoed.status, 201);
assert.deepEqual(await echoed.json(), posted);

assert.equal((await fetch(new URL('/nowhere', url))).status, 404);
const head = await fetch(url, { method: 'HEAD' });
assert.equal(head.headers.get('content-length'), String(answer.length));
assert.equal(await head.text(), '');

const many = await Promise.all(Array.from({ length: 50 }, () => fetch(url)));
assert.deepEqual(new Set(await Promise.all(many.map((each) => each.text()))), new Set([answer]));

const output = await new Promise((resolve, reject) => {
  execFile('/bin/echo', ['a child'], (error, text) => (error ? reject(error) : resolve(text)));
}).catch((error) => error.code);

process.stdout.write(
  `${JSON.stringify({
    node: process.version,
    arch: process.arch,
    engine: engine(app.getHttpServer()),
    spawn: spawnEngine(),
    status: first.status,
    answer,
    output,
    lines: lines.filter((line) => line.startsWith('RedlineFactory: ')),
  })}\n`,
);
await app.close();
