// A server to be killed. What it logs goes to stdout; what it tells the test goes over IPC.
import { setTimeout as sleep } from 'node:timers/promises';

import {
  Controller,
  Get,
  Injectable,
  Module,
  type OnApplicationShutdown,
  type OnModuleDestroy,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import {
  InjectLogger,
  LoggerModule,
  type LoggerModuleOptions,
  NestLogger,
  PinoLogger,
} from '@redline/nest';

interface Orders {
  options?: LoggerModuleOptions;
  hooks?: boolean;
  processExit?: boolean;
  listener?: boolean;
  signalExit?: boolean;
}

const orders = JSON.parse(process.argv[2] ?? '{}') as Orders;

@Injectable()
class Slow implements OnModuleDestroy, OnApplicationShutdown {
  constructor(@InjectLogger('Slow') readonly logger: PinoLogger) {}

  async onModuleDestroy(): Promise<void> {
    this.logger.info('destroying');
    await sleep(20);
    this.logger.info('destroyed');
  }

  async onApplicationShutdown(signal?: string): Promise<void> {
    await sleep(20);
    this.logger.info({ signal }, 'shut down');
  }
}

@Controller()
class Routes {
  constructor(@InjectLogger('Routes') readonly logger: PinoLogger) {}

  @Get('hello')
  hello(): { hello: string } {
    return { hello: 'world' };
  }

  @Get('exit')
  exit(): void {
    for (let count = 0; count < 500; count += 1) this.logger.info({ count }, 'last words');
    process.exit(3);
  }

  @Get('crash')
  crash(): void {
    for (let count = 0; count < 500; count += 1) this.logger.info({ count }, 'last words');
    setImmediate(() => {
      throw new Error('uncaught');
    });
  }

  // Enough to have writes under way when the signal comes.
  @Get('flood')
  flood(): void {
    for (let count = 0; count < 20_000; count += 1) this.logger.info({ count }, 'flood');
    process.kill(process.pid, 'SIGTERM');
  }

  @Get('flood-exit')
  async floodExit(): Promise<void> {
    for (let count = 0; count < 20_000; count += 1) {
      this.logger.info({ count }, 'flood');
      if (count % 5000 === 0) await sleep(1);
    }
    process.send?.('exiting');
    process.exit(0);
  }

  // A line behind a write that waits for its reader.
  @Get('late')
  async late(): Promise<void> {
    for (let count = 0; count < 20_000; count += 1) this.logger.info({ count }, 'flood');
    await sleep(50);
    this.logger.info('late');
  }

  @Get('end')
  end(): void {
    this.logger.info('nothing left to do');
    setImmediate(() => {
      process.disconnect();
      application.getHttpServer().close();
      application.getHttpServer().closeAllConnections();
    });
  }
}

@Module({
  imports: [LoggerModule.forRoot(orders.options)],
  providers: [Slow],
  controllers: [Routes],
})
class AppModule {}

const application = await NestFactory.create<NestFastifyApplication>(
  AppModule,
  new FastifyAdapter(),
  { bufferLogs: true },
);
application.useLogger(application.get(NestLogger));
if (orders.hooks)
  application.enableShutdownHooks([], { useProcessExit: orders.processExit ?? false });
if (orders.listener) {
  process.once('SIGTERM', () => {
    application.get(Slow).logger.info('heard');
    setTimeout(() => process.exit(9), 20);
  });
}
if (orders.signalExit) {
  // What `signal-exit` does: re-raise, but only if every listener is one of its own.
  const emitter = { count: 1 };
  Reflect.set(process, Symbol.for('signal-exit emitter'), emitter);
  const listener = (): void => {
    if (process.listenerCount('SIGTERM') !== emitter.count) return;
    process.off('SIGTERM', listener);
    process.kill(process.pid, 'SIGTERM');
  };
  process.on('SIGTERM', listener);
}
await application.listen(0, '127.0.0.1');
process.send?.((application.getHttpServer().address() as { port: number }).port);
