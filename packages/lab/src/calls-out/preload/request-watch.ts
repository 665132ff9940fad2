import { performance } from 'node:perf_hooks';
import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { CallFrame, CallOut, RequestCalls } from './protocol.ts';

/** Time, idle time of the event loop, and CPU of this thread, in milliseconds. */
interface Clocks {
  ms: number;
  idleMs: number;
  cpuMs: number;
}

/** Available from Node 22.19. */
const threadClock = (process as { threadCpuUsage?: () => NodeJS.CpuUsage }).threadCpuUsage;

function readClocks(): Clocks {
  const ms = performance.now();
  const idleMs = performance.eventLoopUtilization().idle;
  if (threadClock === undefined) return { ms, idleMs, cpuMs: ms - idleMs };
  // The kernel adds the current time slice of a thread when it is asked for those of the process.
  process.cpuUsage();
  const { user, system } = threadClock.call(process);
  return { ms, idleMs, cpuMs: (user + system) / 1_000 };
}

export function since(start: Clocks): Clocks {
  const now = readClocks();
  return {
    ms: now.ms - start.ms,
    idleMs: now.idleMs - start.idleMs,
    cpuMs: now.cpuMs - start.cpuMs,
  };
}

/** A request of the server, on its way or answered. */
export interface WatchedRequest extends RequestCalls {
  /** Clocks at its arrival. */
  start: Clocks;
  isAnswered: boolean;
}

/** The request that code runs for, and the call of it that is open: what this calls in turn is part of it. */
interface Context {
  request: WatchedRequest;
  within: { isOpen: boolean } | undefined;
  /** Functions of the app that have asked for what runs now. */
  frames: CallFrame[];
}

const started = 'http.server.request.start';
const finished = 'http.server.response.finish';

/** More requests than a runner sends are others, as of a load that goes on. */
const maxRequests = 2_000;

/** Follows requests from their arrival to their response, through everything that they start. Only while it runs: it costs CPU. */
export class RequestWatch {
  readonly #storage = new AsyncLocalStorage<Context>();
  readonly #byRequest = new WeakMap<object, WatchedRequest>();
  #answered: WatchedRequest[] = [];

  start(): void {
    subscribe(started, this.#begin);
    subscribe(finished, this.#end);
  }

  stop(): void {
    unsubscribe(started, this.#begin);
    unsubscribe(finished, this.#end);
    this.#storage.disable();
    this.#answered = [];
  }

  /** Returns the request that the running code belongs to: until its response is sent, and outside of its calls. */
  current(): WatchedRequest | undefined {
    const context = this.#storage.getStore();
    if (context === undefined || context.within?.isOpen || context.request.isAnswered)
      return undefined;
    return context.request;
  }

  /** Runs a function as part of a request, or of a call of it while that is open. */
  run<Result>(
    request: WatchedRequest,
    within: { isOpen: boolean } | undefined,
    fn: () => Result,
    frames: CallFrame[] = [],
  ): Result {
    return this.#storage.run({ request, within, frames }, fn);
  }

  frames(): CallFrame[] {
    return this.#storage.getStore()?.frames ?? [];
  }

  take(): RequestCalls[] {
    const taken = this.#answered;
    this.#answered = [];
    return taken.map(({ calls, more, ms }) => ({ calls, more, ms }));
  }

  readonly #begin = (message: unknown): void => {
    if (this.#answered.length >= maxRequests) return;
    const { request } = message as { request: object };
    const watched: WatchedRequest = {
      start: readClocks(),
      calls: [],
      more: 0,
      ms: 0,
      isAnswered: false,
    };
    this.#byRequest.set(request, watched);
    this.#storage.enterWith({ request: watched, within: undefined, frames: [] });
  };

  readonly #end = (message: unknown): void => {
    const { request } = message as { request: object };
    const watched = this.#byRequest.get(request);
    if (watched === undefined || watched.isAnswered) return;
    watched.isAnswered = true;
    const end = since(watched.start);
    watched.ms = end.ms;
    for (const call of watched.calls) {
      if (!Number.isNaN(call.toMs)) continue;
      closeAt(call, end);
      call.isOpen = true;
    }
    this.#answered.push(watched);
  };
}

export function closeAt(call: CallOut, { ms, idleMs, cpuMs }: Clocks): void {
  call.toMs = ms;
  call.toIdleMs = idleMs;
  call.toCpuMs = cpuMs;
}
