// A sink and a load for tests that ask deferred work on each of the frameworks over HTTP.
import type { TestContext } from 'node:test';
import {
  defer,
  defineJob,
  type Clock,
  type Deferrer,
  type DeferOptions,
  type Delivery,
  type DeliveryResult,
  type JobDefinition,
  type Level,
  type Sink,
  type SinkHost,
  type Timer,
} from '@redline/defer';
import type { App, Take } from './deferred-apps.ts';

export const good: JobDefinition<string> = defineJob<string>('good');
export const bad: JobDefinition<string> = defineJob<string>('bad');

/** `/process/good/7` defers the job good with the data "7" at the level process. */
export const byName: Take = (level, name, data) => {
  defer(name === 'good' ? good : bad, data, { level: level as Exclude<Level, 'outbox'> });
};

/** What a sink of the test has taken, by the names of the jobs. */
export class List implements Sink {
  readonly kind = 'list';
  readonly got: string[] = [];
  host: SinkHost | undefined;
  isAway = false;
  answer: (delivery: Delivery) => DeliveryResult = () => undefined;

  open(host: SinkHost): void {
    this.host = host;
  }

  async send(batch: readonly Delivery[]): Promise<readonly DeliveryResult[]> {
    if (this.isAway) throw new Error('It is away.');
    return batch.map((delivery) => {
      const result = this.answer(delivery);
      if (result === undefined) this.got.push(JSON.parse(delivery.json) as string);
      return result;
    });
  }
}

export const quick = { batch: { waitMs: 0 }, breaker: { minMs: 5, maxMs: 20 } };
export const some: readonly string[] = Array.from({ length: 60 }, (_, n) => String(n));

export function sorted(data: readonly string[]): string[] {
  return data.toSorted((a, b) => Number(a) - Number(b));
}

/** Asks for each of these at the same time. Returns the data of those that were answered below 400. */
export async function askAt(
  url: string,
  level: string,
  name: string,
  data: readonly string[],
): Promise<string[]> {
  const claimed: string[] = [];
  await Promise.all(
    data.map(async (each) => {
      const response = await fetch(`${url}/${level}/${name}/${each}`);
      await response.text();
      if (response.ok) claimed.push(each);
    }),
  );
  return claimed;
}

type SinkQueue = NonNullable<ReturnType<Deferrer['queues']['get']>>;

export interface Begun extends App {
  readonly queue: SinkQueue;
  ask(level: string, name: string, data: readonly string[]): Promise<string[]>;
}

/** Starts apps on one of the frameworks, which end with their tests. */
export function beginOn(
  start: (options: DeferOptions, take: Take) => Promise<App>,
): (t: TestContext, options: DeferOptions, take?: Take) => Promise<Begun> {
  return async (t, options, take = byName) => {
    const app = await start(
      { handleSignals: false, logger: false, drainMs: 100, ...options },
      take,
    );
    t.after(() => app.stop());
    return {
      ...app,
      queue: app.deferrer.queues.get('test')!,
      ask: (level, name, data) => askAt(app.url, level, name, data),
    };
  };
}

/** Time that passes when the test says so. */
export class HandClock implements Clock {
  #now = 1_000;
  readonly #timers = new Set<{ readonly atMs: number; readonly callback: () => void }>();

  now(): number {
    return this.#now;
  }

  wall(): number {
    return Date.now();
  }

  after(ms: number, callback: () => void): Timer {
    const timer = { atMs: this.#now + ms, callback };
    this.#timers.add(timer);
    return { cancel: () => void this.#timers.delete(timer) };
  }

  pass(ms: number): void {
    this.#now += ms;
    for (const timer of this.#timers) {
      if (timer.atMs <= this.#now && this.#timers.delete(timer)) timer.callback();
    }
  }
}
