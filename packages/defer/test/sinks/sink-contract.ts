import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Delivery, Sink } from '../../src/sink.ts';
import { bringAll, deliveries, delivery, host } from './deliveries.ts';

/** What lies at the other end of a sink. */
export interface Message {
  job: string;
  data: unknown;
  /** The job's id, where the message carries one. */
  id?: string | undefined;
  key?: string | undefined;
  traceparent?: string | undefined;
}

/** An empty queue, topic or table of its own, on the server all tests share. */
export interface Destination {
  /** Each call makes a sink of its own that goes there; `look` is called by the app's function that is asked for each job. */
  sink(look?: (delivery: Delivery) => void): Sink;
  /** Everything that is there, in its order. */
  received(): Promise<Message[]>;
}

export interface Traits {
  open(t: TestContext): Promise<Destination>;
  /** A second job of the same key, or id, is dropped. */
  dedupes: boolean;
  /** A job the server refuses for good, whatever the others are. */
  poison?: Partial<Delivery>;
  /** An option of the sink is a function that is asked for each job. */
  asks?: boolean;
  /** Makes the server go, and come back with what it had acknowledged. */
  outage?: { begin(): Promise<void> | void; end(): Promise<void> | void };
  /** The server orders what one sink sends. @default true */
  orders?: boolean;
}

const untilLater = (): AbortSignal => AbortSignal.timeout(20_000);

/** What every sink owes to the core. */
export function sinkContract(traits: Traits): void {
  const { open, dedupes, poison, asks = false, outage, orders = true } = traits;

  async function start(
    t: TestContext,
    ordered: boolean | 'key' = false,
  ): Promise<{ destination: Destination; sink: Sink; told: ReturnType<typeof host> }> {
    const destination = await open(t);
    const sink = destination.sink();
    const told = host(ordered);
    await sink.open?.(told);
    t.after(() => sink.close?.());
    return { destination, sink, told };
  }

  describe('as every sink', () => {
    it('takes a batch whole: names, data, ids, and the trace they belong to', async (t) => {
      const { destination, sink } = await start(t);
      const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
      const batch = [
        delivery({ job: 'send-mail', data: { to: 'ä@example.com' }, context: { traceparent } }),
        delivery({ job: 'log', data: [1, null, 'two', { three: 3.5 }] }),
        delivery({ job: 'log', json: 'null' }),
        delivery({ job: 'log', data: 'naïve 日本 😀 \u2028 "quoted" \\ \n' }),
      ];
      assert.ok(!(await sink.send(batch, untilLater()))?.some((result) => result !== undefined));
      const messages = await destination.received();
      assert.deepEqual(
        sorted(messages.map(({ job, data }) => ({ job, data }))),
        sorted(batch.map(({ job, json }) => ({ job, data: JSON.parse(json) }))),
      );
      for (const { id } of messages) {
        if (id !== undefined)
          assert.ok(
            batch.some((each) => each.id === id),
            id,
          );
      }
      const first = messages.find(({ job }) => job === 'send-mail')!;
      if ('traceparent' in first) assert.equal(first.traceparent, traceparent);
    });

    it('takes 1,000 jobs in batches side by side, none lost and none twice', async (t) => {
      const { destination, sink } = await start(t);
      const jobs = deliveries(1_000);
      const { dead, outages } = await bringAll(sink, jobs);
      assert.deepEqual({ dead, outages }, { dead: [], outages: 0 });
      assert.deepEqual(numbers(await destination.received()), numbersOf(jobs));
    });

    it('keeps the order it is asked to keep', { skip: !orders }, async (t) => {
      const { destination, sink } = await start(t, true);
      const jobs = deliveries(90);
      for (let from = 0; from < jobs.length; from += 30) {
        await sink.send(jobs.slice(from, from + 30), untilLater());
      }
      const order = (await destination.received()).map(({ data }) => (data as { n: number }).n);
      assert.deepEqual(
        order,
        jobs.map((_, n) => n),
      );
    });

    it(
      'has a job once that was sent twice',
      { skip: !dedupes && 'it does not promise that' },
      async (t) => {
        const { destination, sink } = await start(t);
        const keyed = [1, 2, 3].map(() => delivery({ key: 'order 7:paid', data: { n: 1 } }));
        const same = delivery({ data: { n: 2 } });
        await sink.send([keyed[0]!, same, keyed[1]!], untilLater());
        await sink.send([same, keyed[2]!], untilLater());
        assert.deepEqual(numbers(await destination.received()), [1, 2]);
      },
    );

    it(
      "calls the one job dead that the app's own function throws for, and takes the others",
      { skip: !asks && 'it asks none' },
      async (t) => {
        for (const ordered of [false, true]) {
          const destination = await open(t);
          const sink = destination.sink(({ key }) => {
            if (key === 'throws') throw new Error('no idea');
          });
          await sink.open?.(host(ordered));
          t.after(() => sink.close?.());
          const batch = deliveries(9);
          batch.splice(4, 0, delivery({ key: 'throws' }));
          const results = await sink.send(batch, untilLater());
          assert.deepEqual(
            batch.map((_, index) => results?.[index]?.kind),
            batch.map((_, index) => (index === 4 ? 'dead' : undefined)),
          );
          assert.deepEqual(numbers(await destination.received()), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
        }
      },
    );

    it('tells jobs of two kinds apart that share a key', async (t) => {
      const { destination, sink } = await start(t);
      const batch = ['send-mail', 'log'].map((job, n) =>
        delivery({ job, key: 'order-4711', data: { n } }),
      );
      await sink.send(batch, untilLater());
      assert.deepEqual(numbers(await destination.received()), [0, 1]);
    });

    it('takes keys of any characters, half an emoji among them, and tells them apart', async (t) => {
      const { destination, sink } = await start(t);
      const keys = [
        '\ud83d',
        '\ud83e',
        'a\ud83d',
        '%ud83d',
        'a b',
        'a:b',
        'ä',
        '',
        '"',
        '😀',
        '\ude00',
      ];
      const batch = keys.map((key, n) => delivery({ key, data: { n } }));
      const results = await sink.send(batch, untilLater());
      assert.ok(!results?.some((result) => result !== undefined), JSON.stringify(results));
      assert.deepEqual(
        numbers(await destination.received()),
        keys.map((_, n) => n),
      );
    });

    it(
      'calls the one job dead that the server refuses, and takes the others',
      { skip: poison === undefined && 'its server refuses nothing by content' },
      async (t) => {
        const { destination, sink } = await start(t);
        const batch = deliveries(9);
        batch.splice(4, 0, delivery({ data: { n: -1 }, ...poison }));
        const results = await sink.send(batch, untilLater());
        const kinds = batch.map((_, index) => results?.[index]?.kind);
        assert.deepEqual(
          kinds,
          batch.map((_, index) => (index === 4 ? 'dead' : undefined)),
        );
        const there = numbers(await destination.received());
        assert.deepEqual(unique(there), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
        // A server that closes the connection over it had taken some of the others, and said so to nobody.
        if (dedupes) assert.equal(there.length, 9);
      },
    );

    it('rejects when it may not take longer', async (t) => {
      const { sink } = await start(t);
      await sink.send([delivery()], untilLater());
      const gone = AbortSignal.abort(new Error('too late'));
      const results = await Promise.allSettled([sink.send([delivery()], gone)]);
      const [outcome] = results;
      assert.ok(
        outcome!.status === 'rejected' || outcome!.value?.[0]?.kind === 'retry',
        JSON.stringify(outcome),
      );
    });

    it('closes, used or not, and leaves what it has sent', async (t) => {
      const { destination, sink } = await start(t);
      await sink.send(deliveries(3), untilLater());
      await sink.close?.();
      assert.deepEqual(numbers(await destination.received()), [0, 1, 2]);
      await destination.sink().close?.();
    });

    it(
      'says that its server is gone, counts nobody out, and goes on when it is back',
      { skip: outage === undefined && 'it has no server', timeout: 110_000 },
      async (t) => {
        const { destination, sink } = await start(t);
        const jobs = deliveries(1_500);
        let state: 'up' | 'going' | 'down' | 'back' = 'up';
        const journey = await bringAll(sink, jobs, async (acknowledged, outages) => {
          if (state === 'up' && acknowledged >= 300) {
            state = 'going';
            // Not awaited: the other lane is in the middle of a batch.
            const begun = Promise.resolve(outage!.begin());
            void begun.then(() => (state = 'down'));
          } else if (state === 'down' && outages >= 2) {
            state = 'back';
            await outage!.end();
          }
        });
        assert.equal(state, 'back', 'the outage came too late to matter');
        assert.deepEqual(journey.dead, []);
        const there = numbers(await destination.received());
        assert.deepEqual(unique(there), numbersOf(jobs));
        if (dedupes) assert.equal(there.length, jobs.length);
      },
    );
  });
}

export function numbers(messages: readonly Message[]): number[] {
  return messages.map(({ data }) => (data as { n: number }).n).toSorted((a, b) => a - b);
}

function numbersOf(jobs: readonly Delivery[]): number[] {
  return jobs.map((_, n) => n);
}

function unique(values: readonly number[]): number[] {
  return [...new Set(values)];
}

function sorted<T>(values: T[]): T[] {
  return values.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}
