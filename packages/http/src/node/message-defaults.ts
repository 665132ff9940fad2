/**
 * Gives a prototype what Node's constructor gives each message: plain values as they are, arrays on first touch. A
 * message then begins with nothing of its own, and Node's methods still find every field they know.
 */
export function inheritDefaults(
  prototype: object,
  fresh: object,
  except: ReadonlySet<PropertyKey>,
): void {
  for (const key of Reflect.ownKeys(fresh)) {
    // `events.captureRejections` may be set at any time: EventEmitter's prototype has the answer.
    if (except.has(key) || isCapture(key)) continue;
    const value = (fresh as Record<PropertyKey, unknown>)[key];
    if (Array.isArray(value)) defineLazyArray(prototype, key);
    else if (typeof value !== 'object' || value === null) defineOwn(prototype, key, value);
  }
}

/** An own property, even where the prototype has an accessor of that name. */
export function defineOwn(object: object, key: PropertyKey, value: unknown): void {
  Object.defineProperty(object, key, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}

/** The same, not enumerable. */
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
