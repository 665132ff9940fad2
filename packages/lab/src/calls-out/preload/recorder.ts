import { createHash } from 'node:crypto';
import { appFrames } from './app-frames.ts';
import { closeAt, RequestWatch, since, type WatchedRequest } from './request-watch.ts';
import type { CallFrame, CallOut, CallSystem, RequestCalls } from './protocol.ts';

/** The global through which patched drivers find their wrappers: it must exist before any of them runs. */
export const callsGlobal = '__redlineCalls';

/** A request with more calls has its first ones described. */
const maxCalls = 1_000;

export interface CallFacts {
  system: CallSystem;
  /** Without literals. */
  text: string;
  /** The text as the app wrote it. It stays in the process. */
  written?: string;
  values?: unknown;
}

type Callback = (this: unknown, ...args: unknown[]) => unknown;

/** A call on its way. */
export interface OpenCall {
  /** Records that it has ended; once. */
  end(error?: unknown): void;
  /** Returns the same callback, which first records the end, and runs as part of the request again. */
  callback(callback: Callback): Callback;
}

/** Records the calls of requests that are sent one after the other. It does nothing until it is started, and after it is stopped. */
export class CallRecorder {
  isOn = false;
  /** Returns the stage that the current request has reached. */
  stage: (() => number | undefined) | undefined;
  /** Sources of calls besides wrapped drivers. */
  readonly sources: { start(): void; stop(): void }[] = [];
  readonly #watch = new RequestWatch();
  readonly #values = new Map<string, Map<string, number>>();

  start(): void {
    if (this.isOn) return;
    this.isOn = true;
    this.#watch.start();
    for (const source of this.sources) source.start();
  }

  /** Returns the requests that were answered since the last time. */
  take(): RequestCalls[] {
    return this.#watch.take();
  }

  stop(): void {
    this.isOn = false;
    this.#watch.stop();
    for (const source of this.sources) source.stop();
    this.#values.clear();
  }

  /**
   * Records the beginning of a call of the current request. Undefined outside of a request, and within another call.
   * @param describe An error in it leaves the call out: none may reach the app.
   */
  begin(describe: () => CallFacts | undefined): OpenCall | undefined {
    return this.#begin(describe)?.open;
  }

  /** Records a call, and what it calls in turn as part of it. */
  record<Result>(
    describe: () => CallFacts | undefined,
    invoke: (open: OpenCall | undefined) => Result,
  ): Result {
    const begun = this.#begin(describe);
    if (begun === undefined) return invoke(undefined);
    const { request, state, open } = begun;
    return this.#watch.run(request, state, () => {
      try {
        return invoke(open);
      } catch (error) {
        open.end(error);
        throw error;
      }
    });
  }

  /** Runs a function whose calls begin in a later turn as calls of the functions that are on the stack now. */
  calledHere<Result>(fn: () => Result): Result {
    const request = this.#watch.current();
    if (request === undefined) return fn();
    return this.#watch.run(request, undefined, fn, framesOrNone());
  }

  #begin(
    describe: () => CallFacts | undefined,
  ): { request: WatchedRequest; state: { isOpen: boolean }; open: OpenCall } | undefined {
    const request = this.isOn ? this.#watch.current() : undefined;
    if (request === undefined) return undefined;
    if (request.calls.length >= maxCalls) {
      request.more++;
      return undefined;
    }
    try {
      const facts = describe();
      if (facts === undefined) return undefined;
      const call = this.#callOf(facts, request);
      request.calls.push(call);
      const state = { isOpen: true };
      return { request, state, open: this.#open(request, call, state) };
    } catch {
      return undefined;
    }
  }

  #open(request: WatchedRequest, call: CallOut, state: { isOpen: boolean }): OpenCall {
    const end = (error?: unknown): void => {
      if (!state.isOpen) return;
      state.isOpen = false;
      if (call.isOpen) return;
      closeAt(call, since(request.start));
      if (error !== undefined && error !== null) call.hasFailed = true;
    };
    const watch = this.#watch;
    return {
      end,
      callback: (callback) =>
        function (this: unknown, ...args) {
          end(args[0]);
          return watch.run(request, undefined, () => callback.apply(this, args));
        },
    };
  }

  #callOf({ system, text, written, values }: CallFacts, request: WatchedRequest): CallOut {
    const stage = this.stage?.();
    const number = this.#numberOf(text, [written, values]);
    const own = appFrames();
    const frames = own.length > 0 ? own : this.#watch.frames();
    // The last thing before the call: what describing it takes does not count.
    const from = since(request.start);
    return {
      system,
      text,
      values: number,
      frames,
      ...(stage === undefined ? {} : { stage }),
      fromMs: from.ms,
      fromIdleMs: from.idleMs,
      fromCpuMs: from.cpuMs,
      toMs: Number.NaN,
      toIdleMs: Number.NaN,
      toCpuMs: Number.NaN,
    };
  }

  #numberOf(text: string, values: unknown): number {
    const known = this.#values.get(text) ?? new Map<string, number>();
    this.#values.set(text, known);
    const key = keyOfValues(values);
    const number = known.get(key) ?? known.size;
    known.set(key, number);
    return number;
  }
}

function framesOrNone(): CallFrame[] {
  try {
    return appFrames();
  } catch {
    return [];
  }
}

/** Longer values are compared by their beginning. */
const maxCompared = 10_000;

/** Returns a key that is the same for the same values. It stays in the process. */
function keyOfValues(values: unknown): string {
  return createHash('sha1').update(serialised(values)).digest('base64');
}

function serialised(values: unknown): string {
  try {
    const text = JSON.stringify(values, (_key, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    return (text ?? '').slice(0, maxCompared);
  } catch {
    // Circular, or with a getter that throws: it equals only itself.
    return String(Math.random());
  }
}
