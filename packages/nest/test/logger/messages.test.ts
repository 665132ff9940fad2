import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { InjectQueue, BullModule, Processor, WorkerHost } from '@nestjs/bullmq';
import {
  type CanActivate,
  Controller,
  Get,
  Inject,
  type INestApplication,
  Injectable,
  Module,
  type ModuleMetadata,
  Param,
  UseGuards,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  ClientKafka,
  ClientsModule,
  EventPattern,
  GrpcMethod,
  MessagePattern,
  type MicroserviceOptions,
  Payload,
  RpcException,
  Transport,
} from '@nestjs/microservices';
import { KafkaRequestSerializer } from '@nestjs/microservices/serializers/kafka-request.serializer.js';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { WsAdapter } from '@nestjs/platform-ws';
import { Cron, ScheduleModule, Timeout } from '@nestjs/schedule';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { LoggerModule, type LoggerModuleOptions, NestLogger, PinoLogger } from '@redline/nest';
import { LoggerModule as CompatibleModule } from '@redline/nest/nestjs-pino';
import { freePort, startNats, startRedis } from '@redline/services';
import { firstValueFrom, Observable } from 'rxjs';
import { WebSocket } from 'ws';

type Line = Record<string, any>;

@Injectable()
class Nobody implements CanActivate {
  canActivate(): boolean {
    return false;
  }
}

class Refusal extends RpcException {}

@Controller()
class Orders {
  readonly #logger: PinoLogger;

  constructor(logger: PinoLogger) {
    this.#logger = logger;
  }

  @MessagePattern('orders.get')
  async get(@Payload() id: number): Promise<object> {
    await sleep(1);
    this.#logger.info('within');
    this.#logger.assign({ order: id });
    return { id };
  }

  @MessagePattern('orders.list')
  list(): Observable<number> {
    return new Observable((subscriber) => {
      this.#logger.info('within');
      setImmediate(() => {
        subscriber.next(1);
        subscriber.complete();
      });
    });
  }

  @EventPattern('orders.made')
  made(@Payload() _id: number): void {
    this.#logger.info('within');
  }

  @MessagePattern('orders.fail')
  fail(): never {
    throw new TypeError('no such order');
  }

  @MessagePattern('orders.refuse')
  refuse(): never {
    throw new Refusal('not today');
  }

  @MessagePattern('orders.forbidden')
  @UseGuards(Nobody)
  forbidden(): object {
    return {};
  }

  @GrpcMethod('Orders', 'Find')
  find({ id }: { id: number }): object {
    this.#logger.info('within');
    return { id };
  }
}

@Controller()
class Front {
  constructor(@Inject('CLIENT') readonly client: any) {}

  @Get('send/:pattern')
  send(@Param('pattern') pattern: string): unknown {
    return firstValueFrom(this.client.send(pattern, 7)).catch((error: unknown) => ({ error }));
  }

  @Get('emit')
  async emit(): Promise<object> {
    await firstValueFrom(this.client.emit('orders.made', 7), { defaultValue: undefined });
    return {};
  }

  @Get('find')
  find(): unknown {
    return this.client.getService('Orders').find({ id: 7 });
  }
}

interface Started {
  readonly app: INestApplication;
  readonly url: string;
  readonly lines: Line[];
  /** The line of one piece of work, once it is there. */
  lineOf(fields: Line): Promise<Line>;
}

async function start(
  t: TestContext,
  module: ModuleMetadata,
  {
    options = {},
    services = [],
    prepare = () => {},
    loggers,
  }: {
    options?: LoggerModuleOptions;
    services?: readonly MicroserviceOptions[];
    prepare?: (app: INestApplication) => void;
    loggers?: (stream: { write(line: string): void }) => ModuleMetadata['imports'];
  } = {},
): Promise<Started> {
  const lines: Line[] = [];
  const stream = { write: (line: string) => void lines.push(JSON.parse(line) as Line) };
  const logger = loggers?.(stream) ?? [LoggerModule.forRoot({ ...options, destination: stream })];
  @Module({ ...module, imports: [...logger, ...(module.imports ?? [])] })
  class AppModule {}
  const app = await NestFactory.create(AppModule, new FastifyAdapter(), { bufferLogs: true });
  app.useLogger(app.get(NestLogger, { strict: false }));
  prepare(app);
  // Without inheritAppConfig, by which global interceptors do not reach it.
  for (const service of services) app.connectMicroservice(service);
  t.after(() => app.close());
  await app.startAllMicroservices();
  await app.listen(0, '127.0.0.1');
  return {
    app,
    url: `http://127.0.0.1:${app.getHttpServer().address().port}`,
    lines,
    async lineOf(fields) {
      for (;;) {
        const found = lines.find((line) =>
          Object.entries(fields).every(([name, value]) => line[name] === value),
        );
        if (found !== undefined) return found;
        await sleep(5);
      }
    },
  };
}

const headers = { 'x-request-id': 'order-77', connection: 'close' };

interface Wire {
  readonly transport: 'tcp' | 'redis' | 'nats';
  options(): Promise<MicroserviceOptions>;
}

const stops: (() => unknown)[] = [];
let redisPort: number | undefined;
let natsAddress: string | undefined;

before(async () => {
  const redis = await startRedis();
  if (redis !== undefined) {
    redisPort = Number(new URL(redis.url).port);
    stops.push(() => redis.stop());
  }
  const nats = await startNats();
  if ('server' in nats && nats.server !== undefined) {
    const { server } = nats;
    natsAddress = server.address;
    stops.push(() => server.stop());
  }
});
after(() => Promise.all(stops.map((stop) => stop())));

const wires: readonly Wire[] = [
  {
    transport: 'tcp',
    options: async () => ({
      transport: Transport.TCP,
      options: { host: '127.0.0.1', port: await freePort() },
    }),
  },
  {
    transport: 'redis',
    options: async () => ({
      transport: Transport.REDIS,
      options: { host: '127.0.0.1', port: redisPort! },
    }),
  },
  {
    transport: 'nats',
    options: async () => ({ transport: Transport.NATS, options: { servers: [natsAddress!] } }),
  },
];

function isMissing({ transport }: Wire): string | false {
  if (transport === 'redis' && redisPort === undefined) return 'no redis-server';
  return transport === 'nats' && natsAddress === undefined ? 'no nats-server' : false;
}

for (const wire of wires) {
  describe(`A message over ${wire.transport}`, () => {
    const startOrders = async (t: TestContext, options?: LoggerModuleOptions): Promise<Started> => {
      const service = await wire.options();
      return start(
        t,
        {
          imports: [ClientsModule.register([{ name: 'CLIENT', ...(service as any) }])],
          controllers: [Orders, Front],
        },
        { services: [service], ...(options && { options }) },
      );
    };
    const get = async ({ url }: Started, path: string): Promise<unknown> =>
      (await fetch(`${url}${path}`, { headers })).json();

    it('has one line with the id of the request that sent it, as have lines within', async (t) => {
      if (isMissing(wire)) return t.skip(String(isMissing(wire)));
      const app = await startOrders(t);
      assert.deepEqual(await get(app, '/send/orders.get'), { id: 7 });
      const line = await app.lineOf({ msg: 'message completed', pattern: 'orders.get' });
      const { level, reqId, kind, transport, order, err } = line;
      assert.deepEqual(
        { level, reqId, kind, transport, order, err },
        {
          level: 30,
          reqId: 'order-77',
          kind: 'message',
          transport: wire.transport,
          order: 7,
          err: undefined,
        },
      );
      assert.equal(typeof line['responseTime'], 'number');
      assert.equal((await app.lineOf({ msg: 'within' }))['reqId'], 'order-77');
      assert.equal(app.lines.filter((each) => each['kind'] !== undefined).length, 1);
    });

    it('is over when the observable of its handler is', async (t) => {
      if (isMissing(wire)) return t.skip(String(isMissing(wire)));
      const app = await startOrders(t);
      assert.equal(await get(app, '/send/orders.list'), 1);
      await app.lineOf({ msg: 'message completed', pattern: 'orders.list', reqId: 'order-77' });
      assert.equal((await app.lineOf({ msg: 'within' }))['reqId'], 'order-77');
    });

    it('without a response is an event', async (t) => {
      if (isMissing(wire)) return t.skip(String(isMissing(wire)));
      const app = await startOrders(t);
      await get(app, '/emit');
      await app.lineOf({ msg: 'message completed', kind: 'event', reqId: 'order-77' });
      assert.equal((await app.lineOf({ msg: 'within' }))['reqId'], 'order-77');
    });

    it('that fails has the error, once; one that is refused is a warning', async (t) => {
      if (isMissing(wire)) return t.skip(String(isMissing(wire)));
      const app = await startOrders(t);
      await get(app, '/send/orders.fail');
      const failed = await app.lineOf({ msg: 'message failed', pattern: 'orders.fail' });
      assert.deepEqual([failed['level'], failed['reqId']], [50, 'order-77']);
      assert.match(failed['err'].stack, /no such order/);
      await get(app, '/send/orders.refuse');
      const refused = await app.lineOf({ msg: 'message failed', pattern: 'orders.refuse' });
      assert.deepEqual(
        [refused['level'], refused['reason'], refused['err']],
        [40, 'not today', undefined],
      );
      await get(app, '/send/orders.forbidden');
      const forbidden = await app.lineOf({ msg: 'message failed', pattern: 'orders.forbidden' });
      assert.equal(forbidden['level'], 40);
      const stacks = app.lines.filter((line) => line['err']?.stack?.includes('no such order'));
      assert.equal(stacks.length, 1);
    });

    it('has no line where messages are off, and its lines have the id nevertheless', async (t) => {
      if (isMissing(wire)) return t.skip(String(isMissing(wire)));
      const app = await startOrders(t, { messages: 'off' });
      await get(app, '/send/orders.get');
      assert.equal((await app.lineOf({ msg: 'within' }))['reqId'], 'order-77');
      await app.lineOf({ msg: 'request completed' });
      assert.equal(
        app.lines.some((line) => line['kind'] !== undefined),
        false,
      );
    });
  });
}

describe('A message without headers', () => {
  it('of a peer that knows nothing of ids is understood, and gets one', async (t) => {
    const port = await freePort();
    const service = { transport: Transport.TCP, options: { host: '127.0.0.1', port } } as const;
    const { lineOf } = await start(t, { controllers: [Orders] }, { services: [service] });
    // As a plain Nest sends it.
    const socket = (await import('node:net')).connect(port, '127.0.0.1');
    const packet = JSON.stringify({ pattern: 'orders.get', data: 7, id: 'one' });
    socket.write(`${packet.length}#${packet}`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    assert.match(String(answer), /"response":\{"id":7\}/);
    const { reqId } = await lineOf({ msg: 'message completed' });
    assert.match(reqId, /^[\w-]{8}-[\w-]+$/);
  });

  it('does not take an id that is none', async (t) => {
    const port = await freePort();
    const service = { transport: Transport.TCP, options: { host: '127.0.0.1', port } } as const;
    const { lineOf } = await start(t, { controllers: [Orders] }, { services: [service] });
    const socket = (await import('node:net')).connect(port, '127.0.0.1');
    const requestId = 'a"\n{forged}';
    const packet = JSON.stringify({ pattern: 'orders.get', data: 7, id: 'one', requestId });
    socket.write(`${packet.length}#${packet}`);
    await once(socket, 'data');
    socket.destroy();
    assert.match((await lineOf({ msg: 'message completed' }))['reqId'], /^[\w-]{8}-[\w-]+$/);
  });
});

describe('A message over gRPC', () => {
  it('has one line with the id of the request that sent it', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'redline-grpc-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const protoPath = join(folder, 'orders.proto');
    writeFileSync(
      protoPath,
      'syntax = "proto3"; package shop; message Id { int32 id = 1; } service Orders { rpc Find (Id) returns (Id); }',
    );
    const options = { package: 'shop', protoPath, url: `127.0.0.1:${await freePort()}` };
    const service = { transport: Transport.GRPC, options } as const;
    const { url, lineOf } = await start(
      t,
      {
        imports: [ClientsModule.register([{ name: 'CLIENT', ...service }])],
        controllers: [Orders, Front],
      },
      { services: [service] },
    );
    assert.deepEqual(await (await fetch(`${url}/find`, { headers })).json(), { id: 7 });
    const line = await lineOf({ msg: 'message completed', transport: 'grpc' });
    assert.deepEqual([line['pattern'], line['reqId']], ['Orders/Find', 'order-77']);
    assert.equal((await lineOf({ msg: 'within' }))['reqId'], 'order-77');
  });
});

@WebSocketGateway({ path: '/socket' })
class Gateway {
  constructor(readonly logger: PinoLogger) {}

  @SubscribeMessage('greet')
  greet(): object {
    this.logger.info('within');
    return { event: 'greeted', data: 1 };
  }

  @SubscribeMessage('fail')
  fail(): never {
    throw new TypeError('no greeting');
  }
}

/** What a client of Kafka gives to the producer: kafkajs and a server are not here. */
interface Sent {
  readonly messages: readonly { readonly value: unknown; readonly headers: Line }[];
}

describe('A message to Kafka', () => {
  it('has the id in its headers, where it has none of its own', async (t) => {
    const sent: Sent[] = [];
    const client = Object.assign(Object.create(ClientKafka.prototype) as ClientKafka, {
      connect: async () => {},
      serializer: new KafkaRequestSerializer(),
      options: {},
      routingMap: new Map(),
      consumerAssignments: { 'a.reply': 0 },
      _producer: { send: async (message: Sent) => void sent.push(message) },
    });
    const emit = (data: unknown): Promise<unknown> =>
      firstValueFrom(client.emit('a', data), { defaultValue: undefined });
    const own = { value: { n: 2 }, headers: { 'x-request-id': 'own', other: '1' } };
    @Controller()
    class Sending {
      @Get('send')
      async send(): Promise<object> {
        await emit({ n: 1 });
        await emit(own);
        await emit({ key: 'k', value: 3 });
        client.send('a', 4).subscribe();
        while (sent.length < 4) await sleep(1);
        return {};
      }
    }
    const { url } = await start(t, { controllers: [Sending] });
    await (await fetch(`${url}/send`, { headers })).json();
    const messages = sent.map(({ messages: [message] }) => message!);
    assert.deepEqual(
      messages.map(({ value }) => value),
      ['{"n":1}', '{"n":2}', '3', '4'],
    );
    const ids = messages.map((message) => message.headers['x-request-id'] as unknown);
    assert.deepEqual(ids, ['order-77', 'own', 'order-77', 'order-77']);
    assert.equal(messages[1]?.headers['other'], '1');
    assert.ok('kafka_correlationId' in messages[3]!.headers);
    await emit(5);
    assert.deepEqual(sent.at(-1)?.messages[0], { value: '5', headers: {} });
  });
});

describe('A message of a gateway', () => {
  it('has one line with an id of its own, as have lines within', async (t) => {
    const { url, lineOf, lines } = await start(
      t,
      { providers: [Gateway] },
      { prepare: (app) => void app.useWebSocketAdapter(new WsAdapter(app)) },
    );
    const socket = new WebSocket(`${url.replace('http', 'ws')}/socket`);
    await once(socket, 'open');
    socket.send(JSON.stringify({ event: 'greet', data: 1 }));
    await once(socket, 'message');
    socket.send(JSON.stringify({ event: 'fail', data: 1 }));
    const failed = await lineOf({ msg: 'message failed', kind: 'ws' });
    socket.close();
    await once(socket, 'close');
    const line = await lineOf({ msg: 'message completed', kind: 'ws' });
    assert.deepEqual([line['pattern'], failed['pattern']], ['greet', 'fail']);
    assert.equal((await lineOf({ msg: 'within' }))['reqId'], line['reqId']);
    assert.notEqual(failed['reqId'], line['reqId']);
    assert.match(failed['err'].stack, /no greeting/);
    const stacks = lines.filter((each) => each['err']?.stack?.includes('no greeting'));
    assert.equal(stacks.length, 1);
  });
});

@Injectable()
class Timers {
  #runs = 0;

  constructor(readonly logger: PinoLogger) {}

  @Cron('* * * * * *')
  async each(): Promise<void> {
    await sleep(1);
    this.logger.info('within');
  }

  @Timeout(1)
  once(): void {
    this.#runs += 1;
    throw new TypeError(`no run ${this.#runs}`);
  }
}

describe('The run of a timer', () => {
  it('has one line with an id of its own, as have lines within', async (t) => {
    const { lineOf, lines } = await start(t, {
      imports: [ScheduleModule.forRoot()],
      providers: [Timers],
    });
    const line = await lineOf({ msg: 'job completed', kind: 'cron' });
    assert.equal(line['pattern'], 'Timers.each');
    assert.equal((await lineOf({ msg: 'within' }))['reqId'], line['reqId']);
    const failed = await lineOf({ msg: 'job failed', pattern: 'Timers.once' });
    assert.equal(failed['level'], 50);
    assert.match(failed['err'].stack, /no run 1/);
    assert.equal(lines.filter((each) => each['err'] !== undefined).length, 1);
  });
});

@Processor('mail')
class Mail extends WorkerHost {
  constructor(readonly logger: PinoLogger) {
    super();
  }

  async process({ name }: { name: string }): Promise<void> {
    await sleep(1);
    this.logger.info('within');
    if (name === 'fail') throw new TypeError('no address');
  }
}

@Controller()
class Post {
  constructor(@InjectQueue('mail') readonly queue: any) {}

  @Get('post/:name')
  async post(@Param('name') name: string): Promise<object> {
    await this.queue.add(name, { to: 'ann' });
    await this.queue.addBulk([{ name: `${name}-2`, data: {} }]);
    return {};
  }
}

describe('A job of BullMQ', () => {
  it('has one line with the id of the request that added it', async (t) => {
    if (redisPort === undefined) return t.skip('no redis-server');
    const connection = { host: '127.0.0.1', port: redisPort };
    const { url, lineOf } = await start(t, {
      imports: [BullModule.forRoot({ connection }), BullModule.registerQueue({ name: 'mail' })],
      controllers: [Post],
      providers: [Mail],
    });
    await fetch(`${url}/post/send`, { headers });
    for (const pattern of ['mail:send', 'mail:send-2']) {
      const { reqId, kind } = await lineOf({ msg: 'job completed', pattern });
      assert.deepEqual([reqId, kind], ['order-77', 'job']);
    }
    assert.equal((await lineOf({ msg: 'within' }))['reqId'], 'order-77');
    await fetch(`${url}/post/fail`, { headers });
    const failed = await lineOf({ msg: 'job failed', pattern: 'mail:fail' });
    assert.deepEqual([failed['reqId'], failed['level']], ['order-77', 50]);
    assert.match(failed['err'].stack, /no address/);
  });
});

describe('The compatible module', () => {
  it('writes no line of a message, as nestjs-pino, and the id into those within', async (t) => {
    const port = await freePort();
    const service = { transport: Transport.TCP, options: { host: '127.0.0.1', port } } as const;
    const { url, lineOf, lines } = await start(
      t,
      {
        imports: [ClientsModule.register([{ name: 'CLIENT', ...service }])],
        controllers: [Orders, Front],
      },
      {
        services: [service],
        loggers: (stream) => [
          CompatibleModule.forRoot({
            pinoHttp: { stream, genReqId: ({ headers: sent }) => sent['x-request-id'] as string },
          }),
        ],
      },
    );
    await fetch(`${url}/send/orders.get`, { headers });
    assert.equal((await lineOf({ msg: 'within' }))['reqId'], 'order-77');
    await lineOf({ msg: 'request completed' });
    assert.equal(
      lines.some((line) => line['kind'] !== undefined),
      false,
    );
  });
});
