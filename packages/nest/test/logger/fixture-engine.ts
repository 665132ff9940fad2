// A server that answers /kept without JavaScript, to be ended. What it logs goes to stdout, or to a file.
import { Controller, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { responseStoreOf, serverFactory } from '@redline/http';
import { LoggerModule, type LoggerModuleOptions } from '@redline/nest';

const { options, threaded } = JSON.parse(process.argv[2] ?? '{}') as {
  options?: LoggerModuleOptions;
  threaded: boolean;
};

@Controller()
class Routes {
  @Get(['kept', 'made'])
  made(): string {
    return 'made';
  }
}

@Module({ imports: [LoggerModule.forRoot(options)], controllers: [Routes] })
class AppModule {}

const http = { threaded };
const application = await NestFactory.create<NestFastifyApplication>(
  AppModule,
  new FastifyAdapter({ serverFactory, http } as never),
  { logger: false },
);
await application.listen(0, '127.0.0.1');
const store = responseStoreOf(application.getHttpServer());
const line = store?.lines?.line ?? 0;
store?.keep('/kept', { body: 'kept', freshMs: 600_000, line });

const orders: Record<string, () => unknown> = {
  exit: () => process.exit(0),
  throw: () => {
    throw new Error('uncaught');
  },
  close: async () => {
    await application.close();
    process.disconnect();
  },
  block: () => {
    const end = performance.now() + 200;
    while (performance.now() < end);
  },
};
process.on('message', (order: string) => void orders[order]?.());
process.send?.((application.getHttpServer().address() as { port: number }).port);
