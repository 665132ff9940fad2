import 'reflect-metadata';
import { Writable } from 'node:stream';
import { Controller, Get, Module } from '@nestjs/common';
import {
  AfterResponse,
  DeferModule,
  engine,
  JsonCache,
  JsonCacheModule,
  LoggerModule,
  NestLogger,
  RedlineFactory,
} from '@redline/nest';

const lines = [];
const deferred = [];
let made = 0;

class AppController {
  cached() {
    this.after(`response ${(made += 1)}`);
    return { made };
  }
  after(text) {
    deferred.push(text);
  }
}
// Without a compiler.
const decorate = (name, ...decorators) => {
  const descriptor = Object.getOwnPropertyDescriptor(AppController.prototype, name);
  for (const each of decorators) each(AppController.prototype, name, descriptor);
  Object.defineProperty(AppController.prototype, name, descriptor);
};
decorate('cached', JsonCache({ ttl: 60_000 }), Get('/'));
decorate('after', AfterResponse());
Controller()(AppController);

class AppModule {
  configure() {}
}
const stream = new Writable({
  write(chunk, encoding, done) {
    lines.push(JSON.parse(chunk));
    done();
  },
});
Module({
  imports: [
    LoggerModule.forRoot({ requests: 'all', destination: stream }),
    JsonCacheModule.forRoot(),
    DeferModule.forRoot(),
  ],
  controllers: [AppController],
})(AppModule);

async function main() {
  const texts = [];
  const engines = [];
  for (const adapter of ['fastify', 'express']) {
    const app = await RedlineFactory.create(AppModule, { adapter, bufferLogs: true });
    app.useLogger(app.get(NestLogger));
    await app.listen(0, '127.0.0.1');
    const url = await app.getUrl();
    for (let i = 0; i < 2; i += 1) texts.push(await (await fetch(url)).text());
    engines.push(engine(app.getHttpServer()));
    await app.close();
  }
  const written = lines.filter(({ msg }) => msg === 'request completed').length;
  const [first, second] = engines.map((each) => JSON.stringify(each));
  const result = `${texts}; ${deferred}; ${written} lines`;
  console.log(JSON.stringify({ result, engine: first === second ? engines[0] : engines }));
}

main();
