import assert from 'node:assert/strict';
import { isResult, type Delivery, type DeliveryResult, type Sink } from '../sink.ts';
import { bringAll, deliveries, delivery, host } from './deliveries.ts';

/** A message at the other end of a sink. */
export interface Message {
  job: string;
  data: unknown;
  /** The job's id, if the message carries one. */
  id?: string | undefined;
  key?: string | undefined;
  /** Left out if messages carry no trace. */
  traceparent?: string | undefined;
}

/** An empty queue, topic or table of its own, on a server that all cases may share. */
export interface SinkDestination {
  /** Creates a separate sink for this destination; the app's function that is called for each job must call `look`. */
  sink(look?: (delivery: Delivery) => void): Sink;
  /** Returns everything that has arrived, in order. */
  received(): Promise<Message[]> | Message[];
}

/** Runs `work` at the end of the case, the last one given first. */
export interface CleanUp {
  after(work: () => unknown): void;
}

/** Promises of a sink beyond the contract of every sink. */
export interface SinkTraits {
  open(cleanUp: CleanUp): Promise<SinkDestination> | SinkDestination;
  /** A second job of the same key, or id, is dropped. */
  dedupes: boolean;
  /** A job that the server refuses for good, regardless of the others. */
  poison?: Partial<Delivery>;
  /** True if an option of the sink is a function that is called for each job. */
  asks?: boolean;
  /** Stops the server, and brings it back with what it had acknowledged. */
  outage?: { begin(): Promise<void> | void; end(): Promise<void> | void };
  /** True if the server keeps the order in which one sink sends. @default true */
  orders?: boolean;
}

/** One rule that a sink must keep. Any test runner can run it: it rejects with an AssertionError if the sink breaks it. */
export interface ContractCase {
  readonly name: string;
  /** Reason why it does not apply to this sink; false if it does. */
  readonly skip: string | false;
  /** Time limit, in milliseconds. */
  readonly timeoutMs: number;
  run(): Promise<void>;
}

interface Start {
  readonly destination: SinkDestination;
  readonly sink: Sink;
}

type Body = (start: (ordered?: boolean | 'key', look?: Look) => Promise<Start>) => Promise<void>;
type Look = (delivery: Delivery) => void;

/**
 * Returns the contract between every sink and the core, for `node:test` or any other runner.
 *
 * @example
 * ```ts
 * for (const { name, skip, timeoutMs, run } of sinkContract({ dedupes: false, open: () => queue() })) {
 *   it(name, { skip, timeout: timeoutMs }, run);
 * }
 * ```
 */
export function sinkContract(traits: SinkTraits): ContractCase[] {
  const { dedupes, poison, asks = false, outage, orders = true } = traits;
  return [
    one('takes a batch whole: names, data, ids, and the trace they belong to', false, takesWhole),
    one('takes 1,000 jobs in batches side by side, none lost and none twice', false, takesMany),
    one('keeps the order it is asked to keep', !orders && 'it has none', keepsOrder),
    one('has a job once that was sent twice', !dedupes && 'it does not promise that', isThereOnce),
    one(
      "calls the one job dead that the app's own function throws for, and takes the others",
      !asks && 'it asks none',
      buriesWhatThrows,
    ),
    one('tells jobs of two kinds apart that share a key', false, tellsKindsApart),
    one(
      'takes keys of any characters, half an emoji among them, and tells them apart',
      false,
      takesAnyKey,
    ),
    one(
      'calls the one job dead that the server refuses, and takes the others',
      poison === undefined && 'its server refuses nothing by content',
      (start) => buriesPoison(start, poison!, dedupes),
    ),
    one('rejects when its time is up', false, givesUp),
    one('closes, used or not, and leaves what it has sent', false, closes),
    one(
      'says that its server is gone, counts nobody out, and continues when it is back',
      outage === undefined && 'it has no server',
      (start) => outlives(start, outage!, dedupes),
    ),
  ];

  function one(name: string, skip: string | false, body: Body): ContractCase {
    return { name, skip, timeoutMs: 110_000, run: () => runCase(traits, body) };
  }
}

async function runCase(traits: SinkTraits, body: Body): Promise<void> {
  const atEnd: (() => unknown)[] = [];
  const cleanUp: CleanUp = { after: (work) => void atEnd.push(work) };
  try {
    await body(async (ordered = false, look) => {
      const destination = await traits.open(cleanUp);
      const sink = destination.sink(look);
      await sink.open?.(host(ordered));
      cleanUp.after(() => sink.close?.());
      return { destination, sink };
    });
  } finally {
    for (const work of atEnd.toReversed()) await work();
  }
}

const untilLater = (): AbortSignal => AbortSignal.timeout(20_000);

/* Returns one result for each, made by `retry()`, `untried()` or `dead()`. */
async function send(
  sink: Sink,
  batch: readonly Delivery[],
  signal: AbortSignal = untilLater(),
): Promise<readonly DeliveryResult[]> {
  const results = await sink.send(batch, signal);
  if (results === undefined) return batch.map(() => undefined);
  assert.equal(results.length, batch.length, 'send() must resolve with a result for each job');
  assert.ok(
    results.every(isResult),
    'a result is undefined, or made by retry(), untried(), dead()',
  );
  return results;
}

function kindsOf(results: readonly DeliveryResult[]): (string | undefined)[] {
  return results.map((result) => result?.kind);
}

async function takesWhole(start: Parameters<Body>[0]): Promise<void> {
  const { destination, sink } = await start();
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const batch = [
    delivery({ job: 'send-mail', data: { to: 'ä@example.com' }, context: { traceparent } }),
    delivery({ job: 'log', data: [1, null, 'two', { three: 3.5 }] }),
    delivery({ job: 'log', json: 'null' }),
    delivery({ job: 'log', data: 'naïve 日本 😀 \u2028 "quoted" \\ \n' }),
  ];
  assert.deepEqual(kindsOf(await send(sink, batch)), [undefined, undefined, undefined, undefined]);
  const messages = await destination.received();
  assert.deepEqual(
    sorted(messages.map(({ job, data }) => ({ job, data }))),
    sorted(batch.map(({ job, json }) => ({ job, data: JSON.parse(json) }))),
  );
  for (const { id } of messages) {
    assert.ok(id === undefined || batch.some((each) => each.id === id), id);
  }
  const first = messages.find(({ job }) => job === 'send-mail')!;
  if ('traceparent' in first) assert.equal(first.traceparent, traceparent);
}

async function takesMany(start: Parameters<Body>[0]): Promise<void> {
  const { destination, sink } = await start();
  const jobs = deliveries(1_000);
  // On a busy machine a batch takes long, which is not an outage.
  const { dead, outages } = await bringAll(sink, jobs, () => {}, 30_000);
  assert.deepEqual({ dead, outages }, { dead: [], outages: 0 });
  assert.deepEqual(numbers(await destination.received()), numbersOf(jobs));
}

async function keepsOrder(start: Parameters<Body>[0]): Promise<void> {
  const { destination, sink } = await start(true);
  const jobs = deliveries(90);
  for (let from = 0; from < jobs.length; from += 30) {
    await send(sink, jobs.slice(from, from + 30));
  }
  const order = (await destination.received()).map(({ data }) => (data as { n: number }).n);
  assert.deepEqual(order, numbersOf(jobs));
}

async function isThereOnce(start: Parameters<Body>[0]): Promise<void> {
  const { destination, sink } = await start();
  const keyed = [1, 2, 3].map(() => delivery({ key: 'order 7:paid', data: { n: 1 } }));
  const same = delivery({ data: { n: 2 } });
  await send(sink, [keyed[0]!, same, keyed[1]!]);
  await send(sink, [same, keyed[2]!]);
  assert.deepEqual(numbers(await destination.received()), [1, 2]);
}

async function buriesWhatThrows(start: Parameters<Body>[0]): Promise<void> {
  for (const ordered of [false, true]) {
    const { destination, sink } = await start(ordered, ({ key }) => {
      if (key === 'throws') throw new Error('no idea');
    });
    const batch = deliveries(9);
    batch.splice(4, 0, delivery({ key: 'throws' }));
    assert.deepEqual(kindsOf(await send(sink, batch)), onlyFifthDead);
    assert.deepEqual(numbers(await destination.received()), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
  }
}

const onlyFifthDead = Array.from({ length: 10 }, (_, index) => (index === 4 ? 'dead' : undefined));

async function tellsKindsApart(start: Parameters<Body>[0]): Promise<void> {
  const { destination, sink } = await start();
  const batch = ['send-mail', 'log'].map((job, n) =>
    delivery({ job, key: 'order-4711', data: { n } }),
  );
  await send(sink, batch);
  assert.deepEqual(numbers(await destination.received()), [0, 1]);
}

async function takesAnyKey(start: Parameters<Body>[0]): Promise<void> {
  const { destination, sink } = await start();
  const halves = ['\ud83d', '\ud83e', '\ude00', 'a\ud83d', '%ud83d'];
  const keys = [...halves, 'a b', 'a:b', 'ä', '', '"', '😀'];
  const batch = keys.map((key, n) => delivery({ key, data: { n } }));
  const results = await send(sink, batch);
  assert.ok(!results.some((result) => result !== undefined), JSON.stringify(results));
  assert.deepEqual(numbers(await destination.received()), numbersOf(batch));
}

async function buriesPoison(
  start: Parameters<Body>[0],
  poison: Partial<Delivery>,
  dedupes: boolean,
): Promise<void> {
  const { destination, sink } = await start();
  const batch = deliveries(9);
  batch.splice(4, 0, delivery({ data: { n: -1 }, ...poison }));
  assert.deepEqual(kindsOf(await send(sink, batch)), onlyFifthDead);
  const there = numbers(await destination.received());
  assert.deepEqual(unique(there), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
  // A server that closes the connection over it had taken some of the others without confirming them.
  if (dedupes) assert.equal(there.length, 9);
}

async function givesUp(start: Parameters<Body>[0]): Promise<void> {
  const { sink } = await start();
  await send(sink, [delivery()]);
  const gone = AbortSignal.abort(new Error('too late'));
  const [outcome] = await Promise.allSettled([send(sink, [delivery()], gone)]);
  assert.ok(
    outcome.status === 'rejected' || outcome.value[0]?.kind === 'retry',
    'send() went on with a signal that had aborted',
  );
}

async function closes(start: Parameters<Body>[0]): Promise<void> {
  const { destination, sink } = await start();
  await send(sink, deliveries(3));
  await sink.close?.();
  assert.deepEqual(numbers(await destination.received()), [0, 1, 2]);
  await destination.sink().close?.();
}

async function outlives(
  start: Parameters<Body>[0],
  outage: NonNullable<SinkTraits['outage']>,
  dedupes: boolean,
): Promise<void> {
  const { destination, sink } = await start();
  const jobs = deliveries(1_500);
  let state: 'up' | 'going' | 'down' | 'back' = 'up';
  const journey = await bringAll(sink, jobs, async (acknowledged, outages) => {
    if (state === 'up' && acknowledged >= 300) {
      state = 'going';
      // Not awaited: the other sender is in the middle of a batch.
      const begun = Promise.resolve(outage.begin());
      void begun.then(() => (state = 'down'));
    } else if (state === 'down' && outages >= 2) {
      state = 'back';
      await outage.end();
    }
  });
  assert.equal(state, 'back', 'the outage came too late to matter');
  assert.deepEqual(journey.dead, []);
  const there = numbers(await destination.received());
  assert.deepEqual(unique(there), numbersOf(jobs));
  if (dedupes) assert.equal(there.length, jobs.length);
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
