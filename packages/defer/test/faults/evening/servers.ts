// The servers of the sinks, which are killed and paused while jobs flow, and the jobs that have arrived in each.
import { connect as connectAmqp } from 'amqplib';
import { AckPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect as connectNats } from '@nats-io/transport-node';
import { Admin, Consumer, MessagesStreamModes, stringDeserializers } from '@platformatic/kafka';
import {
  startKafka,
  startNats,
  startPostgres,
  startRabbit,
  startRedis,
  type Daemon,
} from '@redline/services';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { Times } from './times.ts';
import type { Target } from './round.ts';

export interface ServerTarget extends Target {
  readonly server: Daemon;
  /** Ends the reader, and the server. */
  stop(): Promise<void>;
}

type Start = () => Promise<ServerTarget | { readonly missing: string }>;

/** Longer than a trial: all jobs that a server acknowledged before it was killed are sent again. */
export const replayWindowMs = 3_600_000;

export const servers: Readonly<Record<string, Start>> = {
  'a Redis stream': () =>
    onRedis('redis', async (client, times) => {
      for (const [, fields] of await client.xrange('jobs', '-', '+')) {
        times.add(idOf(fields[fields.indexOf('data') + 1]!));
      }
    }),
  BullMQ: () =>
    onRedis('queue', async (client, times) => {
      for (const id of await client.lrange('bull:jobs:wait', 0, -1)) {
        times.add(id.replace('note~', ''));
      }
    }),
  PostgreSQL: async () => {
    const started = await startPostgres();
    if (started.server === undefined) return { missing: started.missing! };
    const { server } = started;
    return {
      server,
      sink: { postgres: server.url },
      async received() {
        const client = new Client(server.url);
        client.on('error', () => {});
        await client.connect();
        try {
          const { rows } = await client.query<{ id: string }>(
            `select data->>'id' as id from deferred_jobs`,
          );
          return new Times(rows.map(({ id }) => id)).all;
        } finally {
          await client.end();
        }
      },
      stop: () => server.stop(),
    };
  },
  RabbitMQ: async () => {
    const started = await startRabbit();
    if (started.server === undefined) return { missing: started.missing! };
    const { server } = started;
    // Reading removes jobs from the queue.
    const times = new Times();
    return {
      server,
      sink: { rabbitmq: server.url },
      async received() {
        const connection = await connectAmqp(server.url);
        connection.on('error', () => {});
        try {
          const channel = await connection.createChannel();
          await channel.assertQueue('jobs', { durable: true });
          for (;;) {
            const message = await channel.get('jobs', { noAck: true });
            if (message === false) return times.all;
            times.add(idOf(message.content.toString()));
          }
        } finally {
          await connection.close();
        }
      },
      stop: () => server.stop(),
    };
  },
  NATS: async () => {
    const started = await startNats();
    if (started.server === undefined) return { missing: started.missing! };
    const { server } = started;
    const { address } = server;
    const own = await connectNats({
      servers: address,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 50,
    });
    const manager = await jetstreamManager(own);
    await manager.streams.add({ name: 'jobs', subjects: ['jobs.>'] });
    const times = new Times();
    let isMade = false;
    return {
      server,
      sink: { nats: address },
      async received() {
        const config = { durable_name: 'reader', ack_policy: AckPolicy.None };
        if (!isMade) await manager.consumers.add('jobs', config);
        isMade = true;
        const consumer = await jetstream(own).consumers.get('jobs', 'reader');
        const messages = await consumer.fetch({ max_messages: 20_000, expires: 1_000 });
        for await (const message of messages) times.add(message.json<{ id: string }>().id);
        return times.all;
      },
      async stop() {
        await own.close();
        await server.stop();
      },
    };
  },
  Kafka: async () => {
    const started = await startKafka();
    if (started.server === undefined) return { missing: started.missing! };
    const { server } = started;
    const bootstrapBrokers = [server.address];
    const admin = new Admin({ clientId: 'reader', bootstrapBrokers });
    await admin.createTopics({ topics: ['jobs'], partitions: 1, replicas: 1 });
    await admin.close();
    const times = new Times();
    let consumer: Consumer<string, string, string, string> | undefined;
    return {
      server,
      sink: { kafka: server.address },
      async received() {
        if (consumer !== undefined) return times.all;
        consumer = new Consumer({
          clientId: 'reader',
          groupId: 'reader',
          bootstrapBrokers,
          deserializers: stringDeserializers,
        });
        const messages = await consumer.consume({
          topics: ['jobs'],
          mode: MessagesStreamModes.EARLIEST,
          autocommit: false,
          maxWaitTime: 200,
        });
        messages.on('data', ({ value }: { value: string }) => times.add(idOf(value)));
        messages.on('error', () => {});
        return times.all;
      },
      async stop() {
        await consumer?.close(true).catch(() => {});
        await server.stop();
      },
    };
  },
};

/* A restarted Redis has lost all of its data. */
async function onRedis(
  name: 'redis' | 'queue',
  read: (client: Redis, times: Times) => Promise<void>,
): Promise<ServerTarget | { missing: string }> {
  const server = await startRedis();
  if (server === undefined) return { missing: 'redis-server or valkey-server' };
  const client = new Redis(server.url, { retryStrategy: () => 50, maxRetriesPerRequest: null });
  client.on('error', () => {});
  return {
    server,
    sink: name === 'redis' ? { redis: server.url } : { queue: server.url },
    async received() {
      const times = new Times();
      await read(client, times);
      return times.all;
    },
    async stop() {
      client.disconnect();
      await server.stop();
    },
  };
}

function idOf(json: string): string {
  return (JSON.parse(json) as { id: string }).id;
}
