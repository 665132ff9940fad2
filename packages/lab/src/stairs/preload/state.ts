import { AsyncLocalStorage } from 'node:async_hooks';
import type { ServerResponse } from 'node:http';
import { type PreloadSettings, type StageKind, whole } from './protocol.ts';

/** Thrown to leave functions of a request that has ended. No Error: capturing a stack costs microseconds. */
export const unwound: object = Object.freeze({
  name: 'RedlineCut',
  message: 'this request was ended early by redline stairs',
});

/** What transformed sources reach under this name, as a global: it must be there before any of them runs. */
export const globalName = '__redlineStairs';

/**
 * On every response from its arrival on, ended early or not, for all to have the same shape. A WeakSet of those that ended
 * would cost each of them half a microsecond, which whole requests do not pay.
 */
export const isInert: unique symbol = Symbol('redline: ended early');

export type WatchedResponse = ServerResponse & { [isInert]?: boolean };

type Callable = (this: unknown, ...args: unknown[]) => unknown;

/**
 * The one mutable thing: how far a request may go now. `k` is compared at every stage, so it is a plain field that
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
  endsFreely = false;
  failures = 0;
  /** The response of the request that arrived in this turn of the event loop, while its listeners run. */
  current: WatchedResponse | undefined = undefined;
  readonly responses: AsyncLocalStorage<WatchedResponse> = new AsyncLocalStorage();
  /** How the empty answer is sent; set where the response's own methods are known. */
  answer: (response: ServerResponse) => void = () => {};
  /** Phase `trace`: told of every entry. */
  onEnter: ((id: string, stage?: { kind: StageKind; name: string }) => void) | undefined;
  readonly #named = new Map<string, number>();

  constructor(settings: PreloadSettings) {
    this.settings = settings;
    this.sendStage = settings.stages['send'] ?? -1;
  }

  /** Ends the current request unless it has ended. False outside a request: then the caller goes on. */
  cut(): boolean {
    const response = this.current ?? this.responses.getStore();
    if (response === undefined) return false;
    if (response[isInert]) return true;
    // It was answered before the cut came into force.
    if (response.writableEnded) return false;
    response[isInert] = true;
    this.stubs++;
    this.answer(response);
    return true;
  }

  /**
   * As `cut`, for those who leave by returning. Being thrown through costs microseconds, most of them for a message
   * nobody reads, and some stages can only be left that way; so all are charged for it, and it is taken off again.
   */
  end(): boolean {
    if (!this.cut()) return false;
    if (!this.endsFreely) throwAndCatch();
    return true;
  }

  /** A new one each time: reactions piling up on a single one would never be collected. */
  never(): Promise<never> {
    return new Promise(() => {});
  }

  enter(id: string): void {
    this.onEnter?.(id);
  }

  /**
   * Makes a stage of a framework's function. In phase `cut` a function that is no stage comes back untouched.
   * @param kind With `name` its identity: the same in every start of the same app.
   */
  stage<Fn extends Callable>(kind: StageKind, name: string, fn: Fn): Fn {
    const id = this.#identify(`${kind} ${name}`);
    const wrapper = this.#wrapperFor(id, kind, name, fn);
    if (wrapper === undefined) return fn;
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

  #wrapperFor(id: string, kind: StageKind, name: string, fn: Callable): Callable | undefined {
    // oxlint-disable-next-line typescript/no-this-alias
    const state = this;
    if (this.settings.phase === 'trace') {
      return function (this: unknown, ...args: unknown[]): unknown {
        state.onEnter?.(id, { kind, name });
        return fn.apply(this, args);
      };
    }
    const number = this.settings.stages[id];
    if (number === undefined) return undefined;
    return function (this: unknown): unknown {
      if (state.k <= number && state.end()) return state.never();
      try {
        // oxlint-disable-next-line prefer-rest-params
        return fn.apply(this, arguments as never);
      } catch (error) {
        if (error !== unwound) throw error;
        return state.never();
      }
    };
  }

  /** Two of one name are told apart by the order in which they are registered. */
  #identify(name: string): string {
    const before = this.#named.get(name) ?? 0;
    this.#named.set(name, before + 1);
    return before === 0 ? name : `${name} #${before + 1}`;
  }
}

function throwAndCatch(): void {
  try {
    throwUnwound();
  } catch {
    // What it cost was the point.
  }
}

function throwUnwound(): never {
  // oxlint-disable-next-line typescript/only-throw-error
  throw unwound;
}
