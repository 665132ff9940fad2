import { AsyncLocalStorage } from 'node:async_hooks';
import type { ServerResponse } from 'node:http';
import type { EndingTimes } from './ending-times.ts';
import { type PreloadSettings, type StageKind, whole } from './protocol.ts';
import type { WaitingMarks } from './waiting-marks.ts';

/**
 * Thrown to leave functions of a request that has ended. No Error: capturing a stack costs microseconds. Not frozen, for
 * libraries that note something on what they catch.
 */
export const unwound: object = {
  name: 'RedlineCut',
  message: 'this request was ended early by redline stairs',
};

/** The global that transformed sources use under this name: it must exist before any of them runs. */
export const globalName = '__redlineStairs';

/**
 * On every response from its arrival on, ended early or not, for all to have the same shape. A WeakSet of those that ended
 * would cost each of them half a microsecond, which whole requests do not pay.
 */
export const isInert: unique symbol = Symbol('redline: ended early');

export type WatchedResponse = ServerResponse & { [isInert]?: boolean };

/**
 * How a stage of a framework is left: by returning nothing, after which it waits for nothing; or by throwing through
 * it.
 */
export type Leaving = 'return' | 'throw';

type Callable = (this: unknown, ...args: unknown[]) => unknown;

/**
 * The only mutable state: how far a request may go now. `k` is compared at every stage, so it is a plain field that
 * compiled code reads in a nanosecond.
 */
export class StairsState {
  /** Requests end at the entry of the first stage whose number is at least this. */
  k: number = whole;
  readonly S: object = unwound;
  readonly settings: PreloadSettings;
  /** Number of the stage "send"; below all cuts when it is none. */
  sendStage: number = -1;
  requests = 0;
  stubs = 0;
  failures = 0;
  /** The response of the request that arrived in this turn of the event loop, while its listeners run. */
  current: WatchedResponse | undefined = undefined;
  readonly responses: AsyncLocalStorage<WatchedResponse> = new AsyncLocalStorage();
  /** How the empty response is sent; set where the response's own methods are known. */
  answer: (response: ServerResponse) => void = () => {};
  /** Set while the time from the early end of requests to the end of everything they called is measured. */
  endings: EndingTimes | undefined = undefined;
  /** Set while one request after another records when it reaches which stage. */
  marks: WaitingMarks | undefined = undefined;
  /** Phase `trace`: called for every entry. */
  onEnter: ((id: string, stage?: { kind: StageKind; name: string }) => void) | undefined;
  readonly #named = new Map<string, number>();

  constructor(settings: PreloadSettings) {
    this.settings = settings;
    this.sendStage = settings.stages['send'] ?? -1;
  }

  /**
   * Ends the current request unless it has ended. False outside a request, or while it is only watched: then the caller
   * continues.
   */
  cut(stage: number): boolean {
    if (this.marks !== undefined) {
      this.marks.note(stage);
      return false;
    }
    const response = this.current ?? this.responses.getStore();
    if (response === undefined) return false;
    if (response[isInert]) return true;
    // It was answered before the cut took effect.
    if (response.writableEnded) return false;
    response[isInert] = true;
    this.stubs++;
    this.answer(response);
    this.endings?.begin(response);
    return true;
  }

  /** The result of an `await`, unless the request ends there. */
  resumed<Value>(stage: number, value: Value): Value {
    // oxlint-disable-next-line typescript/only-throw-error
    if (this.k <= stage && this.cut(stage)) throw unwound;
    return value;
  }

  /** Whether an error is that of an ended request, or one that was made of it on the way. */
  isOver(error: unknown): boolean {
    if (error === unwound) return true;
    return (this.current ?? this.responses.getStore())?.[isInert] === true;
  }

  /** An ended request has left everything behind. */
  leave(): void {
    if (this.endings === undefined) return;
    const response = this.current ?? this.responses.getStore();
    if (response !== undefined) this.endings.end(response);
  }

  /** For a caller that may be a chain of promises, which then rejects, or one that ignores the result. */
  reject(): Promise<never> {
    this.leave();
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors
    const rejected = Promise.reject<never>(unwound);
    rejected.catch(() => {});
    return rejected;
  }

  /** A handler of rejections that hands an ended request on. */
  handler(handle: unknown): unknown {
    if (typeof handle !== 'function') return handle;
    return (error: unknown): unknown => {
      if (this.isOver(error)) throw error;
      return (handle as Callable)(error);
    };
  }

  /** As `handler`, for callers that ignore the result. */
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
   * @param kind With `name` its identity: the same in every start of the same app.
   */
  stage<Fn extends Callable>(kind: StageKind, name: string, fn: Fn, leaving: Leaving): Fn {
    const id = this.#identify(`${kind} ${name}`);
    const wrapper = this.#wrapperFor(id, { kind, name }, fn, leaving);
    // Frameworks tell error handlers, and hooks with callbacks, by the number of parameters.
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
    leaving: Leaving,
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
    if (leaving === 'throw') {
      return function (this: unknown): unknown {
        // oxlint-disable-next-line typescript/only-throw-error
        if (state.k <= number && state.cut(number)) throw unwound;
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

  /** Two of one name are distinguished by the order in which they are registered. */
  #identify(name: string): string {
    const before = this.#named.get(name) ?? 0;
    this.#named.set(name, before + 1);
    return before === 0 ? name : `${name} #${before + 1}`;
  }
}

function isPromise(value: unknown): value is Promise<unknown> {
  return value instanceof Promise;
}
