import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import {
  Admin,
  Consumer,
  MessagesStreamModes,
  Producer,
  stringDeserializers,
  stringSerializers,
} from '@platformatic/kafka';
import { startKafka } from '@redline/services';
import { kafka } from '../../src/sinks/kafka.ts';
import { delivery, host } from '../../src/testing/deliveries.ts';
import type { Message } from '../../src/testing/sink-contract.ts';
import { runContract } from './run-contract.ts';

const { server, missing } = await startKafka();
after(() => server?.stop());
const bootstrapBrokers = [server?.address ?? ''];
const clientId = 'redline-test';

describe('kafka', { skip: missing ?? false }, () => {
  let admin: Admin;
  before(() => {
    admin = new Admin({ clientId, bootstrapBrokers });
  });
  after(() => admin.close());

  runContract({
    dedupes: false,
    asks: true,
    poison: { json: JSON.stringify('x'.repeat(1_200_000)) },
    async open() {
      const topic = await createTopic(1);
      return {
        sink: (look) =>
          kafka({
            topic: look === undefined ? topic : (each) => (look(each), topic),
            producer: { clientId, bootstrapBrokers },
          }),
        received: async () => (await read(topic)).map(({ message }) => message),
      };
    },
    outage: { begin: () => server!.kill(), end: () => server!.restart() },
  });

  it('keeps the jobs of a key in one partition and in their order', async (t) => {
    const topic = await createTopic(3);
    const sink = kafka({ topic, producer: { clientId, bootstrapBrokers } });
    await sink.open!(host('key'));
    t.after(() => sink.close!());
    const jobs = Array.from({ length: 60 }, (_, n) => delivery({ key: `k${n % 6}`, data: { n } }));
    await sink.send(jobs.slice(0, 30), AbortSignal.timeout(60_000));
    await sink.send(jobs.slice(30), AbortSignal.timeout(60_000));
    // A partition of a new topic may have no leader yet, and then the client sends all again: as consumers do, we
    // take the first of each id.
    const all = await read(topic);
    const ids = all.map(({ message }) => message.id);
    const there = all.filter(({ message }, index) => ids.indexOf(message.id) === index);
    assert.equal(there.length, 60);
    for (const [key, own] of Object.entries(Object.groupBy(there, ({ message }) => message.key!))) {
      assert.equal(new Set(own!.map(({ partition }) => partition)).size, 1, key);
      const order = own!.map(({ message }) => (message.data as { n: number }).n);
      assert.deepEqual(
        order,
        order.toSorted((a, b) => a - b),
      );
    }
    assert.ok(new Set(there.map(({ partition }) => partition)).size > 1);
  });

  async function createTopic(partitions: number): Promise<string> {
    const topic = randomUUID();
    await admin.createTopics({ topics: [topic], partitions, replicas: 1 });
    // It is of use when each partition has a leader who knows it.
    const probe = new Producer({
      clientId,
      bootstrapBrokers,
      serializers: stringSerializers,
      acks: -1,
      retries: 0,
    });
    for (let partition = 0; partition < partitions; partition++) {
      await succeeded(() => probe.send({ messages: [{ topic, partition, value: 'null' }] }));
    }
    await probe.close(true);
    return topic;
  }

  async function read(topic: string): Promise<{ message: Message; partition: number }[]> {
    const consumer = new Consumer({
      clientId,
      bootstrapBrokers,
      groupId: randomUUID(),
      deserializers: stringDeserializers,
    });
    try {
      const ends = (await consumer.listOffsets({ topics: [topic], timestamp: -1n })).get(topic)!;
      let left = Number(ends.reduce((sum, offset) => sum + offset, 0n));
      const got: { message: Message; partition: number }[] = [];
      if (left === 0) return got;
      const stream = await consumer.consume({
        topics: [topic],
        mode: MessagesStreamModes.EARLIEST,
        autocommit: false,
      });
      for await (const { key, value, headers, partition } of stream) {
        if (headers.has('defer-id')) {
          got.push({
            partition,
            message: {
              job: headers.get('defer-job')!,
              id: headers.get('defer-id'),
              key,
              data: JSON.parse(value),
              traceparent: headers.get('traceparent'),
            },
          });
        }
        left -= 1;
        if (left === 0) break;
      }
      return got;
    } finally {
      await consumer.close(true);
    }
  }
});

async function succeeded(attempt: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await attempt();
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
