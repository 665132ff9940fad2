import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Clock, Timer } from '../src/clock.ts';
import type { DeferLogger } from '../src/logger.ts';
import type { Delivery, DeliveryResult, Sink, SinkHost } from '../src/sink.ts';

const folders: string[] = [];
const remove = (folder: string): void => rmSync(folder, { recursive: true, force: true });
process.on('exit', () => folders.forEach(remove));

/** A folder of its own, gone after the test, and again at exit: what the test closes later may write once more. */
export function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'redline-defer-'));
  folders.push(folder);
  t.after(() => remove(folder));
  return folder;
}

/** The address of a server that is closed after the test. */
export async function listening(
  t: TestContext,
  handler: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  const server = createServer(handler).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Keeps the lines that were logged. */
export class TestLogger implements DeferLogger {
  readonly lines: string[] = [];

  warn(message: string): void {
    this.lines.push(`warn ${message}`);
  }

  log(message: string): void {
    this.lines.push(`log ${message}`);
  }
}

type Answer = (batch: readonly Delivery[]) => readonly DeliveryResult[] | undefined | void;

/** A sink in memory that answers what the test says. */
export class TestSink implements Sink {
  readonly kind = 'test';
  readonly runsHere = true;
  readonly batches: Delivery[][] = [];
  host: SinkHost | undefined;
  /** What the next sends answer; a throw is a sink that is not there. */
  answer: Answer = () => undefined;
  /** While true, sends wait. */
  isPaused = false;
  isClosed = false;
  #resume: (() => void)[] = [];

  open(host: SinkHost): void {
    this.host = host;
  }

  async send(batch: readonly Delivery[]): Promise<readonly DeliveryResult[] | undefined | void> {
    this.batches.push([...batch]);
    if (this.isPaused) await new Promise<void>((resolve) => void this.#resume.push(resolve));
    return this.answer(batch);
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }

  resume(): void {
    this.isPaused = false;
    for (const resolve of this.#resume.splice(0)) resolve();
  }

  /** The data of everything that was sent, in its order. */
  get data(): unknown[] {
    return this.batches.flat().map(({ json }) => JSON.parse(json));
  }
}

/** Time that passes when the test says so. Immediates stay real. */
export class TestClock implements Clock {
  #now = 1_000;
  wallMs = 1_800_000_000_000;
  readonly #timers = new Set<{ atMs: number; callback: () => void }>();

  now(): number {
    return this.#now;
  }

  wall(): number {
    return this.wallMs;
  }

  after(ms: number, callback: () => void): Timer {
    const timer = { atMs: this.#now + ms, callback };
    this.#timers.add(timer);
    return { cancel: () => void this.#timers.delete(timer) };
  }

  /** Time passes, and this process stands still meanwhile. */
  stand(ms: number): void {
    this.#now += ms;
    this.wallMs += ms;
  }

  /** Lets the time pass, and everything that is due happen, what that brings about among it. */
  async pass(ms: number): Promise<void> {
    const end = this.#now + ms;
    await turns();
    for (;;) {
      const due = [...this.#timers]
        .filter(({ atMs }) => atMs <= end)
        .sort((a, b) => a.atMs - b.atMs)[0];
      if (due === undefined) break;
      this.wallMs += Math.max(0, due.atMs - this.#now);
      this.#now = Math.max(this.#now, due.atMs);
      this.#timers.delete(due);
      due.callback();
      await turns();
    }
    this.wallMs += end - this.#now;
    this.#now = end;
  }
}

/** A few turns of the event loop. */
export async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}
