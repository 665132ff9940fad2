import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, describe, it } from 'node:test';
import { startRabbit } from '@redline/services';
import { connect, type Channel } from 'amqplib';
import { rabbitmq } from '../../src/sinks/rabbitmq.ts';
import { deliveries, delivery, host } from '../../src/testing/deliveries.ts';
import type { Message } from '../../src/testing/sink-contract.ts';
import { runContract } from './run-contract.ts';

const { server, missing } = await startRabbit();
after(() => server?.stop());
const url = server?.url ?? '';

describe('rabbitmq', { skip: missing ?? false }, () => {
  runContract({
    dedupes: false,
    asks: true,
    poison: { json: JSON.stringify('x'.repeat(3_000_000)) },
    async open() {
      const queue = randomUUID();
      return {
        sink: (look) =>
          rabbitmq({
            connect: url,
            routingKey: look === undefined ? queue : (each) => (look(each), queue),
            setup: (channel) => channel.assertQueue(queue, { durable: true }),
          }),
        received: () => read(queue),
      };
    },
    // In order: killed seconds after it was first started, RabbitMQ has come back without messages that it had confirmed.
    outage: { begin: () => server!.terminate(), end: () => server!.restart() },
  });

  it('has a job tried again that no queue takes, and takes the others', async (t) => {
    const queue = randomUUID();
    const sink = rabbitmq({
      connect: url,
      routingKey: ({ job }) => (job === 'lost' ? 'nowhere' : queue),
      setup: (channel) => channel.assertQueue(queue, { durable: true }),
    });
    await sink.open!(host());
    t.after(() => sink.close!());
    const batch = [
      delivery({ data: { n: 1 } }),
      delivery({ job: 'lost' }),
      delivery({ data: { n: 2 } }),
    ];
    const results = await sink.send(batch, AbortSignal.timeout(60_000));
    assert.deepEqual(
      Array.from(results ?? [], (result) => result?.kind),
      [undefined, 'retry', undefined],
    );
    assert.match(String((results![1] as { error: unknown }).error), /NO_ROUTE/);
    assert.equal((await read(queue)).length, 2);
  });

  it('has a queue that is full refuse each job for itself', async (t) => {
    const queue = randomUUID();
    const sink = rabbitmq({
      connect: url,
      routingKey: queue,
      setup: (channel) =>
        channel.assertQueue(queue, {
          durable: true,
          maxLength: 2,
          overflow: 'reject-publish',
        } as never),
    });
    await sink.open!(host());
    t.after(() => sink.close!());
    const results = await sink.send(deliveries(4), AbortSignal.timeout(60_000));
    assert.deepEqual(
      Array.from(results ?? [], (result) => result?.kind),
      [undefined, undefined, 'retry', 'retry'],
    );
  });

  async function read(queue: string): Promise<Message[]> {
    return withChannel(async (channel) => {
      const messages: Message[] = [];
      for (let got = await channel.get(queue); got !== false; got = await channel.get(queue)) {
        messages.push({
          job: String(got.properties.type),
          id: String(got.properties.messageId),
          data: JSON.parse(got.content.toString()),
          traceparent: got.properties.headers?.['traceparent'] as string | undefined,
        });
      }
      return messages;
    });
  }

  /** What it read and did not acknowledge goes back into the queue. */
  async function withChannel<T>(act: (channel: Channel) => Promise<T>): Promise<T> {
    const model = await connect(url);
    try {
      return await act(await model.createChannel());
    } finally {
      await model.close();
    }
  }
});
