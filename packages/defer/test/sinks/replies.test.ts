import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it, type TestContext } from 'node:test';
import { WebSocket, WebSocketServer } from 'ws';
import { replies, type Replies, type Reply } from '../../src/sinks/replies.ts';
import { bringAll, deliveries, delivery } from '../../src/testing/deliveries.ts';
import { until } from '@redline/services/until';

const inTime = (): AbortSignal => AbortSignal.timeout(60_000);

describe('replies', () => {
  let sink: Replies;
  let made = 0;
  const server = createServer((request, response) => {
    sink.poll(
      clientOf(request.url!),
      request,
      response,
      Number(/wait=(\d+)/.exec(request.url!)?.[1] ?? 5_000),
    );
  });
  const sockets = new WebSocketServer({ server });
  let port = 0;
  before(async () => {
    sockets.on('connection', (socket, request) => {
      sink.attach(clientOf(request.url!), socket);
      socket.send('attached');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  });
  after(() => {
    sockets.close();
    server.close();
    server.closeAllConnections();
  });

  function fresh(options: { retainMs?: number; recheckMs?: number } = {}): Replies {
    made = 0;
    sink = replies({
      work: {
        'send-mail': ({ n }: { n: number }) => {
          made += 1;
          return { square: n * n };
        },
        broken: () => {
          throw Object.assign(new Error('no such month'), { retryable: false });
        },
        shaky: () => {
          throw new Error('not now');
        },
      },
      ...options,
    });
    return sink;
  }

  it('gives the client its results over its WebSocket, after the answer', async (t) => {
    fresh();
    const { received } = await connectAs(t, 'ann');
    const jobs = deliveries(20, { options: { to: 'ann' } });
    jobs[0] = delivery({ data: { n: 0 }, key: 'request-7', options: { to: 'ann' } });
    assert.equal(await sink.send(jobs, inTime()), undefined);
    await until('the replies', () => received.length === 20);
    const first = received.find(({ id }) => id === 'request-7');
    assert.deepEqual(first, { id: 'request-7', job: 'send-mail', result: { square: 0 } });
    assert.deepEqual(
      new Set(received.map(({ result }) => (result as { square: number }).square)),
      new Set(jobs.map((_, n) => n * n)),
    );
  });

  it('keeps a result for a client that is away, makes it once, and gives it when the client is back', async (t) => {
    fresh({ recheckMs: 20 });
    const job = delivery({ data: { n: 3 }, options: { to: 'bob' } });
    const [result] = (await sink.send([job], inTime()))!;
    assert.ok(result?.kind === 'retry');
    assert.equal(result.afterMs, 20);
    const { received } = await connectAs(t, 'bob');
    await until('the replies', () => received.length > 0);
    const { outages } = await bringAll(sink, [{ ...job, attempt: 2 }]);
    assert.equal(outages, 0);
    assert.equal(made, 1);
    assert.deepEqual(received, [{ id: job.id, job: 'send-mail', result: { square: 9 } }]);
  });

  it('gives each client its own, and the newest socket of a client all', async (t) => {
    fresh();
    const ann = await connectAs(t, 'ann');
    const old = await connectAs(t, 'bob');
    const bob = await connectAs(t, 'bob');
    const jobs = [
      ...deliveries(3, { options: { to: 'ann' } }),
      ...deliveries(2, { options: { to: 'bob' } }),
    ];
    await bringAll(sink, jobs);
    await until('the replies', () => ann.received.length === 3 && bob.received.length === 2);
    assert.equal(old.received.length, 0);
  });

  it('gives them over HTTP to who polls, and an empty answer when there are none', async () => {
    fresh({ recheckMs: 10 });
    assert.deepEqual(await poll('eve', 50), []);
    const waiting = poll('eve', 5_000);
    const jobs = deliveries(3, { options: { to: 'eve' } });
    const journey = bringAll(sink, jobs);
    const got = [...(await waiting)];
    while (got.length < 3) got.push(...(await poll('eve', 5_000)));
    await journey;
    assert.deepEqual(new Set(got.map(({ id }) => id)), new Set(jobs.map(({ id }) => id)));
  });

  it('says so when the work can never be done, and has the rest tried again', async (t) => {
    fresh();
    const { received } = await connectAs(t, 'ann');
    const options = { to: 'ann' };
    const batch = ['broken', 'shaky'].map((job) => delivery({ job, options }));
    const results = await sink.send(batch, inTime());
    assert.deepEqual(
      results?.map((result) => result?.kind),
      ['dead', 'retry'],
    );
    await until('the replies', () => received.length > 0);
    assert.deepEqual(received, [{ id: batch[0]!.id, job: 'broken', error: 'no such month' }]);
  });

  it('gives up on a client that does not come back', async () => {
    fresh({ retainMs: 1_000 });
    const job = delivery({ deferredAtMs: Date.now() - 2_000, options: { to: 'gone' } });
    const [result] = (await sink.send([job], inTime()))!;
    assert.equal(result!.kind, 'dead');
  });

  it('refuses at the call what is for nobody, or what nobody does', () => {
    fresh();
    assert.match(sink.refuses!('send-mail', undefined)!, /options\.to is undefined/);
    assert.match(sink.refuses!('other', { to: 'ann' })!, /no handler for "other"/);
    assert.equal(sink.refuses!('send-mail', { to: 'ann' }), undefined);
    assert.throws(() => replies({ work: {}, retainMs: 0 }), { code: 'ERR_REDLINE_DEFER_OPTION' });
  });

  async function connectAs(t: TestContext, client: string): Promise<{ received: Reply[] }> {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/${client}`);
    const received: Reply[] = [];
    t.after(() => socket.terminate());
    const attached = Promise.withResolvers<void>();
    socket.on('message', (data) => {
      const text = String(data);
      if (text === 'attached') attached.resolve();
      else received.push(JSON.parse(text));
    });
    await attached.promise;
    return { received };
  }

  function poll(client: string, waitMs: number): Promise<Reply[]> {
    return new Promise((resolve, reject) => {
      get(`http://127.0.0.1:${port}/${client}?wait=${waitMs}`, { agent: false }, (answer) => {
        let body = '';
        answer.on('data', (chunk: Buffer) => (body += chunk.toString()));
        answer.on('end', () => resolve(JSON.parse(body)));
      }).on('error', reject);
    });
  }
});

function clientOf(url: string): string {
  return url.slice(1).split('?')[0]!;
}
