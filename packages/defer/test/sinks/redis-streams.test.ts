import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { startRedis, type RedisServer } from '@redline/services';
import { Redis } from 'ioredis';
import type { RetryResult } from '../../src/sink.ts';
import { redisStreams } from '../../src/sinks/redis-streams.ts';
import { bringAll, deliveries, delivery, host } from '../../src/testing/deliveries.ts';
import type { Message } from '../../src/testing/sink-contract.ts';
import { runContract } from './run-contract.ts';

// What it acknowledged must be there after a crash.
const server = await startRedis({ settings: { appendonly: 'yes', appendfsync: 'always' } });
after(() => server?.stop());
const skip = server === undefined && 'there is no redis-server on PATH';

describe('redisStreams', { skip }, () => {
  let client: Redis;
  before(() => {
    client = new Redis((server as RedisServer).url);
    client.on('error', () => {});
  });
  after(() => client.disconnect());

  runContract({
    dedupes: false,
    asks: true,
    async open() {
      const stream = `stream:${randomUUID()}`;
      return {
        sink: (look) =>
          redisStreams({
            client,
            stream: look === undefined ? stream : (each) => (look(each), stream),
          }),
        received: () => read(stream),
      };
    },
    outage: { begin: () => server!.kill(), end: () => server!.restart() },
  });

  it('names the run of the server, and the new one after a restart, before it sends', async (t) => {
    const sink = redisStreams({ client, stream: `stream:${randomUUID()}` });
    const spy = host();
    await sink.open!(spy);
    t.after(() => sink.close!());
    await sink.send(deliveries(1), AbortSignal.timeout(60_000));
    assert.equal(spy.generations.length, 1);
    await server!.kill();
    await server!.restart();
    await bringAll(sink, deliveries(1));
    assert.equal(spy.generations.length, 2);
    assert.notEqual(spy.generations[0], spy.generations[1]);
    assert.deepEqual(spy.availability, [true, false, true]);
  });

  it('sends each job to the stream it belongs to', async (t) => {
    const prefix = randomUUID();
    const sink = redisStreams({ client, stream: ({ job }) => `${prefix}:${job}` });
    await sink.open!(host());
    t.after(() => sink.close!());
    const batch = ['log', 'mail', 'log'].map((job, n) => delivery({ job, data: { n } }));
    await sink.send(batch, AbortSignal.timeout(60_000));
    assert.deepEqual(
      (await read(`${prefix}:log`)).map(({ data }) => data),
      [{ n: 0 }, { n: 2 }],
    );
    assert.deepEqual(
      (await read(`${prefix}:mail`)).map(({ data }) => data),
      [{ n: 1 }],
    );
  });

  it('blames the jobs of a stream that is none, alone or among others, and sends those of others once', async (t) => {
    const prefix = randomUUID();
    await client.set(`${prefix}:bad`, 'not a stream');
    const sink = redisStreams({ client, stream: ({ job }) => `${prefix}:${job}` });
    await sink.open!(host());
    t.after(() => sink.close!());
    const kinds = async (jobs: string[]): Promise<unknown[]> => {
      const batch = jobs.map((job) => delivery({ job }));
      const results = await sink.send(batch, AbortSignal.timeout(60_000));
      return results!.map((result) => result && [result.kind, (result as RetryResult).isUntried]);
    };
    const retried = ['retry', undefined];
    assert.deepEqual(await kinds(['log', 'bad', 'log']), [undefined, retried, undefined]);
    assert.deepEqual(await kinds(['bad']), [retried]);
    assert.equal(await client.xlen(`${prefix}:log`), 2);
    await client.config('SET', 'min-replicas-to-write', '1');
    t.after(() => client.config('SET', 'min-replicas-to-write', '0'));
    await assert.rejects(kinds(['log', 'mail']), /NOREPLICAS/);
  });

  it('keeps about as many entries as it may', async (t) => {
    const stream = `stream:${randomUUID()}`;
    const sink = redisStreams({ client, stream, maxLength: 100 });
    await sink.open!(host());
    t.after(() => sink.close!());
    await bringAll(sink, deliveries(2_000));
    const length = await client.xlen(stream);
    assert.ok(length >= 100 && length < 400, String(length));
  });

  it('stops at the first entry Redis refuses, and has those behind it tried again', async (t) => {
    const stream = `stream:${randomUUID()}`;
    const sink = redisStreams({ client, stream });
    await sink.open!(host());
    t.after(() => sink.close!());
    await client.set(stream, 'not a stream');
    await assert.rejects(
      Promise.resolve(sink.send(deliveries(3), AbortSignal.timeout(60_000))),
      /WRONGTYPE/,
    );
    await client.del(stream);
    await client.xadd(stream, '18446744073709551615-18446744073709551614', 'data', '{}');
    const results = await sink.send(deliveries(3), AbortSignal.timeout(60_000));
    assert.deepEqual(
      Array.from(results ?? [], (result) => result?.kind),
      [undefined, 'retry', 'retry'],
    );
  });

  async function read(stream: string): Promise<Message[]> {
    const entries = await client.xrange(stream, '-', '+');
    return entries.map(([, words]) => {
      const fields: Record<string, string> = {};
      for (let i = 0; i < words.length; i += 2) fields[words[i]!] = words[i + 1]!;
      return {
        job: fields['defer-job']!,
        id: fields['defer-id'],
        key: fields['defer-key'],
        data: JSON.parse(fields['data']!),
        traceparent: fields['traceparent'],
      };
    });
  }
});
