import { diag } from '@opentelemetry/api';
import { beforeEndBySignal } from './end-signal.ts';

/** Sends what there is now; false if that failed. */
export type Send = () => Promise<boolean>;

export interface Plan {
  readonly send: Send;
  /** In milliseconds; absent if only a flush sends. */
  readonly interval: number | undefined;
}

/** Max time in milliseconds by which the end of the process is later: service managers kill soon. */
const MAX_END = 5_000;

interface ExportingSettings {
  /** Max time of `flush` in milliseconds. */
  readonly timeout: number;
  /** Called before a flush. */
  before?(): void;
}

/** Sends at intervals, and before the process ends. */
export class Exporting {
  readonly #plans: readonly Plan[];
  readonly #timers: readonly NodeJS.Timeout[];
  readonly #settings: ExportingSettings;
  readonly #stops: (() => void)[] = [];
  #isStopped = false;

  constructor(plans: readonly Plan[], settings: ExportingSettings) {
    this.#plans = plans;
    this.#settings = settings;
    // An app that has nothing left to do ends, whatever waits: `beforeExit` sends it.
    this.#timers = plans.flatMap(({ send, interval }) =>
      interval === undefined
        ? []
        : [setInterval(() => void send().catch(report), interval).unref()],
    );
    this.#listen();
  }

  /** Sends all, within the timeout. @throws if it is over, or if the receiver did not take it */
  async flush(timeout: number = this.#settings.timeout): Promise<void> {
    this.#settings.before?.();
    let timer: NodeJS.Timeout | undefined;
    const isOver = new Promise<'over'>((resolve) => {
      timer = setTimeout(resolve, timeout, 'over');
    });
    const sent = Promise.all(this.#plans.map(({ send }) => send()));
    try {
      const result = await Promise.race([sent, isOver]);
      if (result === 'over') throw new Error(`not all was sent within ${timeout} ms`);
      if (result.includes(false)) throw new Error('the receiver did not take all');
    } finally {
      clearTimeout(timer);
      sent.catch(report);
    }
  }

  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    for (const timer of this.#timers) clearInterval(timer);
    for (const stop of this.#stops) stop();
    await this.flush();
  }

  #listen(): void {
    const limit = Math.min(this.#settings.timeout, MAX_END);
    const flush = (): Promise<void> => this.flush(limit).catch(report);
    const beforeExit = (): void => void flush();
    // Once: what this sends leads to another `beforeExit`.
    process.once('beforeExit', beforeExit);
    const endSignal = beforeEndBySignal(flush);
    this.#stops.push(() => process.removeListener('beforeExit', beforeExit), endSignal);
  }
}

function report(error: unknown): void {
  diag.error(`@redline/telemetry: ${(error as Error).message}`);
}
