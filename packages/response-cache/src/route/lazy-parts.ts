/** A part that the prototype of a request may make at the first read, as the engine's does. Node's requests have both from the start. */
export type LazyPart = 'rawHeaders' | 'socket';
export type LazyParts = { [Name in LazyPart]?: object };

/** What is known of a prototype of requests. */
export interface Lazy extends Readonly<Record<LazyPart, boolean>> {
  readonly prototype: object;
  /** Inherits from it, and gives each request its stand-ins. */
  readonly shim: object;
  /** The stand-ins by request, for the parts that it does not have yet. */
  readonly standIns: WeakMap<object, LazyParts>;
}

const lazyBy = new WeakMap<object, Lazy>();
/* Nearly all requests of a process have one prototype, and a lookup in a WeakMap costs more than the rest of a stand-in. */
let latest: Lazy | undefined;

export function lazyOf(prototype: object): Lazy {
  if (latest?.prototype === prototype) return latest;
  let lazy = lazyBy.get(prototype);
  if (lazy === undefined) lazyBy.set(prototype, (lazy = inspect(prototype)));
  return (latest = lazy);
}

function inspect(prototype: object): Lazy {
  const shim = Object.create(prototype) as object;
  const has = { rawHeaders: 'rawHeaders' in prototype, socket: 'socket' in prototype };
  const lazy: Lazy = { ...has, prototype, shim, standIns: new WeakMap() };
  for (const name of ['rawHeaders', 'socket'] as const) if (has[name]) define(lazy, name);
  return lazy;
}

function define({ shim, prototype, standIns }: Lazy, name: LazyPart): void {
  Object.defineProperty(shim, name, {
    get(this: object): unknown {
      return standIns.get(this)?.[name] ?? (Reflect.get(prototype, name, this) as unknown);
    },
    set(this: object, value: unknown): void {
      Reflect.set(prototype, name, value, this);
    },
    configurable: true,
  });
}
