import {
  ROOT_CONTEXT,
  type Context,
  type ContextManagementToken,
  type ContextManager,
} from '@opentelemetry/api';
import { AsyncLocalStorage } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
import { bindEmitter } from './bound-emitter.ts';

/** Keeps the active context in an AsyncLocalStorage. */
export class AsyncContextManager implements ContextManager {
  readonly #storage = new AsyncLocalStorage<Context>();

  active(): Context {
    return this.#storage.getStore() ?? ROOT_CONTEXT;
  }

  /** Calls back in a context: `with` without a receiver. */
  run<A extends unknown[], R>(context: Context, callback: (...args: A) => R, ...args: A): R {
    return this.#storage.run(context, callback, ...args);
  }

  with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    context: Context,
    callback: F,
    receiver?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    if (receiver == null) return this.#storage.run(context, callback, ...args);
    return this.#storage.run(context, () => Reflect.apply(callback, receiver, args));
  }

  bind<T>(context: Context, target: T): T {
    if (target instanceof EventEmitter) {
      return bindEmitter(target, (listener) => this.#bindFunction(context, listener));
    }
    if (typeof target === 'function') return this.#bindFunction(context, target as T & AnyFunction);
    return target;
  }

  attach(context: Context): ContextManagementToken {
    const before = this.active();
    this.#storage.enterWith(context);
    let isAttached = true;
    return {
      dispose: () => {
        if (isAttached) this.#storage.enterWith(before);
        isAttached = false;
      },
    };
  }

  enable(): this {
    return this;
  }

  disable(): this {
    this.#storage.disable();
    return this;
  }

  #bindFunction<F extends AnyFunction>(context: Context, target: F): F {
    const storage = this.#storage;
    function bound(this: unknown, ...args: unknown[]): unknown {
      return storage.run(context, () => Reflect.apply(target, this, args) as unknown);
    }
    Object.defineProperty(bound, 'length', { configurable: true, value: target.length });
    return bound as AnyFunction as F;
  }
}

type AnyFunction = (...args: never[]) => unknown;
