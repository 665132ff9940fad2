import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, it, type TestContext } from 'node:test';

import { Controller, Injectable, Module, type INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  type ClientProxy,
  ClientProxyFactory,
  EventPattern,
  MessagePattern,
  Payload,
  Transport,
} from '@nestjs/microservices';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { ScheduleModule, Timeout } from '@nestjs/schedule';
import { LoggerModule, type LoggerModuleOptions } from '@redline/nest';
import { firstValueFrom, Observable, of } from 'rxjs';
import { until } from '@redline/services/until';

let timers = 0;
let events = 0;

@Controller()
class Handlers {
  @MessagePattern('value')
  value(): object {
    return { ok: true };
  }

  @MessagePattern('later')
  later(): Observable<number> {
    return new Observable((subscriber) => {
      setImmediate(() => {
        subscriber.next(1);
        subscriber.complete();
      });
    });
  }

  @MessagePattern('fail')
  fail(): never {
    throw new TypeError('on purpose');
  }

  @EventPattern('event')
  event(@Payload() _data: number): Observable<number> {
    events += 1;
    return of(1);
  }
}

@Injectable()
class Timers {
  @Timeout(1)
  tick(): void {
    timers += 1;
  }
}

type Faulty = () => never;

/* Each is called for the line of a message, an event or a timer, or before it. */
const callbacks: Readonly<Record<string, (faulty: Faulty) => LoggerModuleOptions>> = {
  'pino.mixin': (mixin) => ({ pino: { mixin } }),
  'pino.formatters.log': (log) => ({ pino: { formatters: { log } } }),
  'pino.serializers.err': (err) => ({ pino: { serializers: { err } } }),
  'pino.hooks.logMethod': (logMethod) => ({ pino: { hooks: { logMethod } } }),
  'destination.write': (write) => ({ destination: { write } }),
  'requestId.generate': (generate) => ({ requestId: { generate } }),
};

async function start(
  t: TestContext,
  options: LoggerModuleOptions,
): Promise<{ app: INestApplication; client: ClientProxy }> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as { port: number };
  probe.close();
  await once(probe, 'close');
  @Module({
    imports: [
      LoggerModule.forRoot({ destination: { write(): void {} }, ...options }),
      ScheduleModule.forRoot(),
    ],
    controllers: [Handlers],
    providers: [Timers],
  })
  class AppModule {}
  const app = await NestFactory.create(AppModule, new FastifyAdapter(), { logger: false });
  const tcp = { host: '127.0.0.1', port };
  app.connectMicroservice({ transport: Transport.TCP, options: tcp });
  await app.startAllMicroservices();
  await app.listen(0, '127.0.0.1');
  const client = ClientProxyFactory.create({ transport: Transport.TCP, options: tcp });
  t.after(async () => {
    await client.close();
    await app.close();
  });
  return { app, client };
}

describe('A callback of the logger that throws during a message, an event or a timer', () => {
  for (const [name, make] of Object.entries(callbacks))
    it(`leaves the result alone and becomes a warning: ${name}`, async (t) => {
      const warnings: string[] = [];
      const note = ({ message }: Error): void => void warnings.push(message);
      process.on('warning', note);
      t.after(() => void process.off('warning', note));
      const before = { timers, events };
      const boom = `boom of ${name}`;
      const { client } = await start(
        t,
        make(() => {
          throw new Error(boom);
        }),
      );
      assert.deepEqual(await firstValueFrom(client.send('value', 1)), { ok: true });
      assert.equal(await firstValueFrom(client.send('later', 1)), 1);
      await assert.rejects(firstValueFrom(client.send('fail', 1)), {
        message: 'Internal server error',
      });
      await firstValueFrom(client.emit('event', 1), { defaultValue: undefined });
      // An uncaught error would fail this test.
      await until('timers and events', () => timers > before.timers && events > before.events);
      await until('the warning', () => warnings.join().includes(boom));
    });
});
