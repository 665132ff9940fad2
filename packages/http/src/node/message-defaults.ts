/**
 * Gives a prototype the fields that Node's constructor sets on each message: plain values directly, arrays on first access.
 * A message then starts without fields of its own, and Node's methods still find every field they use.
 */
export function inheritDefaults(
  prototype: object,
  fresh: object,
  except: ReadonlySet<PropertyKey>,
): void {
  for (const key of Reflect.ownKeys(fresh)) {
    // `events.captureRejections` may change at any time, so EventEmitter's prototype supplies it.
    if (except.has(key) || isCapture(key)) continue;
    const value = (fresh as Record<PropertyKey, unknown>)[key];
    if (Array.isArray(value)) defineLazyArray(prototype, key);
    else if (typeof value !== 'object' || value === null) defineOwn(prototype, key, value);
  }
}

/** Defines an own property, even if the prototype has an accessor of that name. */
export function defineOwn(object: object, key: PropertyKey, value: unknown): void {
  Object.defineProperty(object, key, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}

/** Like `defineOwn`, but not enumerable. */
export function defineHidden(object: object, key: PropertyKey, value: unknown): void {
  Object.defineProperty(object, key, { value, writable: true, configurable: true });
}

function isCapture(key: PropertyKey): boolean {
  return typeof key === 'symbol' && key.description === 'kCapture';
}

function defineLazyArray(prototype: object, key: PropertyKey): void {
  Object.defineProperty(prototype, key, {
    configurable: true,
    get(this: object) {
      const value: unknown[] = [];
      defineOwn(this, key, value);
      return value;
    },
    set(this: object, value: unknown) {
      defineOwn(this, key, value);
    },
  });
}
