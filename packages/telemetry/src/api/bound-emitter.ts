import type { EventEmitter } from 'node:events';

type Listener = (...args: never[]) => unknown;

const ADDING = [
  'addListener',
  'on',
  'once',
  'prependListener',
  'prependOnceListener',
] as const satisfies readonly (keyof EventEmitter)[];
const REMOVING = ['removeListener', 'off'] as const satisfies readonly (keyof EventEmitter)[];

const isBound: unique symbol = Symbol('redline.telemetry.bound');

/** Binds the listeners that are added to an emitter from now on. An emitter that was bound keeps its first context. */
export function bindEmitter<E extends EventEmitter & { [isBound]?: true }>(
  emitter: E,
  bind: (listener: Listener) => Listener,
): E {
  if (emitter[isBound]) return emitter;
  Object.defineProperty(emitter, isBound, { value: true });
  const bound = new WeakMap<Listener, Listener>();
  // `once` calls `on` with a listener that is bound already.
  let isAdding = false;
  for (const name of ADDING) {
    replace(emitter, name, (method, event, listener) => {
      if (isAdding) return method(event, listener);
      isAdding = true;
      try {
        return method(event, boundOf(listener));
      } finally {
        isAdding = false;
      }
    });
  }
  for (const name of REMOVING) {
    replace(emitter, name, (method, event, listener) =>
      method(event, bound.get(listener) ?? listener),
    );
  }
  return emitter;

  /** One for all events: a listener is removed by the same function that was added. */
  function boundOf(listener: Listener): Listener {
    if (typeof listener !== 'function') return listener;
    const known = bound.get(listener);
    if (known) return known;
    const made = bind(listener);
    bound.set(listener, made);
    return made;
  }
}

type Method = (event: string | symbol, listener: Listener) => unknown;

function replace(
  emitter: EventEmitter,
  name: (typeof ADDING)[number] | (typeof REMOVING)[number],
  act: (method: Method, event: string | symbol, listener: Listener) => unknown,
): void {
  const original: unknown = emitter[name];
  if (typeof original !== 'function') return;
  const replaced = function (this: unknown, event: string | symbol, listener: Listener): unknown {
    return act((...args) => Reflect.apply(original, this, args) as unknown, event, listener);
  };
  Object.defineProperty(emitter, name, {
    value: replaced,
    configurable: true,
    enumerable: true,
    writable: true,
  });
}
