import { AsyncLocalStorage } from 'node:async_hooks';
import type { ServerResponse } from 'node:http';
import { performance } from 'node:perf_hooks';
import type { EndingTimes } from './ending-times.ts';
import { type PreloadSettings, type StageKind, type WaitingMark, whole } from './protocol.ts';

/**
 * Thrown to leave functions of a request that has ended. Not an Error: capturing a stack costs microseconds. Not frozen, for
 * libraries that add properties to caught errors.
 */
export const cutException: object = {
  name: 'RedlineCut',
  message: 'this request was ended early by redline stairs',
};

/** The global that transformed sources use under this name: it must exist before any of them runs. */
export const globalName = '__redlineStairs';

/**
 * Set on every response when it arrives, ended early or not, so that all have the same shape. A WeakSet of ended responses would
 * cost each of them half a microsecond, which whole requests do not pay.
 */
export const hasEndedEarly: unique symbol = Symbol('redline: ended early');

export type WatchedResponse = ServerResponse & { [hasEndedEarly]?: boolean };

/**
 * The way out of a framework's stage: by returning undefined, after which the framework waits for nothing, or by throwing
 * through it.
 */
type Exit = 'return' | 'throw';

type Callable = (this: unknown, ...args: unknown[]) => unknown;

/**
 * The only mutable state: how far a request may go at present. `k` is compared at every stage, so it is a plain field that compiled
 * code reads in a nanosecond.
 */
export class StairsState {
  /** Requests end at the entry of the first stage whose number is at least this. */
  k: number = whole;
  readonly S: object = cutException;
  readonly settings: PreloadSettings;
  /** Number of the stage "send"; below all cuts if it is not a stage. */
  sendStage: number = -1;
  requests = 0;
  stubs = 0;
  failures = 0;
  /** The response of the request that arrived in this turn of the event loop, while its listeners run. */
  current: WatchedResponse | undefined = undefined;
  readonly responses: AsyncLocalStorage<WatchedResponse> = new AsyncLocalStorage();
  /** Sends the empty response; set where the response's own methods are known. */
  answer: (response: ServerResponse) => void = () => {};
  /** Set while endings are timed, from the early end of a request to the return of everything it called. */
  endings: EndingTimes | undefined = undefined;
  /** Set while one request after another records when it reaches each stage. */
  marks: WaitingMarks | undefined = undefined;
  /** Phase `trace`: called for every entry. */
  onEnter: ((id: string, stage?: { kind: StageKind; name: string }) => void) | undefined;
  readonly #named = new Map<string, number>();

  constructor(settings: PreloadSettings) {
    this.settings = settings;
    this.sendStage = settings.stages['send'] ?? -1;
  }

  /**
   * Ends the current request unless it has ended. False outside a request, or while it is only watched: the caller then continues.
   */
  cut(stage: number): boolean {
    if (this.marks !== undefined) {
      this.marks.note(stage);
      return false;
    }
    const response = this.current ?? this.responses.getStore();
    if (response === undefined) return false;
    if (response[hasEndedEarly]) return true;
    // The response was sent before the cut took effect.
    if (response.writableEnded) return false;
    response[hasEndedEarly] = true;
    this.stubs++;
    this.answer(response);
    this.endings?.begin(response);
    return true;
  }

  /** Returns the result of an `await`, unless the request ends there. */
  resumed<Value>(stage: number, value: Value): Value {
    // oxlint-disable-next-line typescript/only-throw-error
    if (this.k <= stage && this.cut(stage)) throw cutException;
    return value;
  }

  /** True for the error of an ended request, or for one that was made from it on the way. */
  isOver(error: unknown): boolean {
    if (error === cutException) return true;
    return (this.current ?? this.responses.getStore())?.[hasEndedEarly] === true;
  }

  /** Records that all functions of an ended request have returned. */
  leave(): void {
    if (this.endings === undefined) return;
    const response = this.current ?? this.responses.getStore();
    if (response !== undefined) this.endings.end(response);
  }

  /** Returns a rejected promise, for a caller that chains on it or ignores the result. */
  reject(): Promise<never> {
    this.leave();
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors
    const rejected = Promise.reject<never>(cutException);
    rejected.catch(() => {});
    return rejected;
  }

  /** Wraps a rejection handler so that it rethrows for an ended request. */
  handler(handle: unknown): unknown {
    if (typeof handle !== 'function') return handle;
    return (error: unknown): unknown => {
      if (this.isOver(error)) throw error;
      return (handle as Callable)(error);
    };
  }

  /** Wraps like `handler`, for callers that ignore the result. */
  last(handle: unknown): unknown {
    if (typeof handle !== 'function') return handle;
    return (error: unknown): unknown =>
      this.isOver(error) ? this.leave() : (handle as Callable)(error);
  }

  enter(id: string): void {
    this.onEnter?.(id);
  }

  resume<Value>(id: string, value: Value): Value {
    this.onEnter?.(id);
    return value;
  }

  /**
   * Makes a framework's function a stage, and stops ended requests there if the framework need not know about them.
   * @param kind With `name`, its identity: the same at every start of the same app.
   */
  stage<Fn extends Callable>(kind: StageKind, name: string, fn: Fn, exit: Exit): Fn {
    const id = this.#identify(`${kind} ${name}`);
    const wrapper = this.#wrapperFor(id, { kind, name }, fn, exit);
    // Frameworks recognise error handlers, and hooks with callbacks, by the number of parameters.
    Object.defineProperty(wrapper, 'length', { value: fn.length });
    Object.defineProperty(wrapper, 'name', { value: fn.name });
    for (const key of Reflect.ownKeys(fn)) {
      if (!Object.hasOwn(wrapper, key)) {
        Object.defineProperty(wrapper, key, Object.getOwnPropertyDescriptor(fn, key)!);
      }
    }
    return wrapper as Fn;
  }

  #wrapperFor(
    id: string,
    stage: { kind: StageKind; name: string },
    fn: Callable,
    exit: Exit,
  ): Callable {
    // oxlint-disable-next-line typescript/no-this-alias
    const state = this;
    if (this.settings.phase === 'trace') {
      return function (this: unknown, ...args: unknown[]): unknown {
        state.onEnter?.(id, stage);
        return fn.apply(this, args);
      };
    }
    const number = this.settings.stages[id] ?? -1;
    if (exit === 'throw') {
      return function (this: unknown): unknown {
        // oxlint-disable-next-line typescript/only-throw-error
        if (state.k <= number && state.cut(number)) throw cutException;
        // oxlint-disable-next-line prefer-rest-params
        return fn.apply(this, arguments as never);
      };
    }
    const stopAtOurs = (error: unknown): void => {
      if (!state.isOver(error)) throw error;
      state.leave();
    };
    return function (this: unknown): unknown {
      if (state.k <= number && state.cut(number)) return state.leave();
      try {
        // oxlint-disable-next-line prefer-rest-params
        const returned = fn.apply(this, arguments as never);
        return isPromise(returned) ? returned.then(undefined, stopAtOurs) : returned;
      } catch (error) {
        return stopAtOurs(error);
      }
    };
  }

  /** Distinguishes functions with the same name by the order of their registration. */
  #identify(name: string): string {
    const before = this.#named.get(name) ?? 0;
    this.#named.set(name, before + 1);
    return before === 0 ? name : `${name} #${before + 1}`;
  }
}

function isPromise(value: unknown): value is Promise<unknown> {
  return value instanceof Promise;
}

/** Records when a single request, alone in the server, reached each stage, as the idle time of the event loop so far. */
export class WaitingMarks {
  readonly #marks = new Map<number, number>();
  /** The stage that was reached last, again or for the first time. */
  latest: number | undefined;

  note(stage: number): void {
    this.latest = stage;
    if (!this.#marks.has(stage)) this.#marks.set(stage, performance.eventLoopUtilization().idle);
  }

  all(): WaitingMark[] {
    return [...this.#marks].map(([stage, idleMs]) => ({ stage, idleMs }));
  }
}
