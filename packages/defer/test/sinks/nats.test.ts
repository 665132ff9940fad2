import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { startNats } from '@redline/services';
import { nats } from '../../src/sinks/nats.ts';
import { deliveries, host } from '../../src/testing/deliveries.ts';
import type { Message } from '../../src/testing/sink-contract.ts';
import { runContract } from './run-contract.ts';

const { server, missing } = await startNats();
after(() => server?.stop());

describe('nats', { skip: missing ?? false }, () => {
  let own: NatsConnection;
  before(async () => {
    own = await connect({
      servers: server!.address,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 50,
    });
  });
  after(() => own.close());

  runContract({
    dedupes: true,
    asks: true,
    poison: { json: JSON.stringify('x'.repeat(2_000_000)) },
    async open() {
      const name = `S${randomUUID().replaceAll('-', '')}`;
      const manager = await jetstreamManager(own);
      await manager.streams.add({ name, subjects: [`${name}.>`] });
      return {
        sink: (look) =>
          nats({
            connect: { servers: server!.address, reconnectTimeWait: 50 },
            subject: (each) => {
              look?.(each);
              return `${name}.${each.job}`;
            },
          }),
        received: () => read(name),
      };
    },
    outage: { begin: () => server!.kill(), end: () => server!.restart() },
  });

  it('says that no stream listens to the subject, and blames no job for it', async (t) => {
    const sink = nats({ connect: { servers: server!.address }, subject: 'nobody.listens' });
    await sink.open!(host());
    t.after(() => sink.close!());
    await assert.rejects(
      Promise.resolve(sink.send(deliveries(2), AbortSignal.timeout(60_000))),
      /No JetStream stream captures "nobody.listens"/,
    );
  });

  async function read(name: string): Promise<Message[]> {
    const manager = await jetstreamManager(own);
    const { state } = await manager.streams.info(name);
    const messages: Message[] = [];
    if (state.messages === 0) return messages;
    const consumer = await jetstream(own).consumers.get(name, { inactive_threshold: 30_000 });
    for await (const message of await consumer.consume()) {
      messages.push({
        job: message.headers!.get('defer-job'),
        id: message.headers!.get('defer-id'),
        data: message.json(),
        traceparent: message.headers!.get('traceparent'),
      });
      if (messages.length === state.messages) break;
    }
    return messages;
  }
});
