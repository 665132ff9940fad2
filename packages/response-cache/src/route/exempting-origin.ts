import { unobserved } from './reads.ts';

/* Their getters read the address to decide if a proxy is trusted; the values they return are part of the key. */
const ofOrigin = ['protocol', 'host', 'hostname'] as const;

const shims = new WeakMap<object, object>();

/** Inherits from a prototype of requests; its getters of the protocol and the host read the address of the client unobserved. */
export function exemptingOrigin(prototype: object): object {
  let shim = shims.get(prototype);
  if (shim === undefined) shims.set(prototype, (shim = shimOf(prototype)));
  return shim;
}

function shimOf(prototype: object): object {
  const shim = Object.create(prototype) as object;
  for (const name of ofOrigin) {
    if (!(name in prototype)) continue;
    Object.defineProperty(shim, name, {
      get(this: object): unknown {
        return unobserved(() => Reflect.get(prototype, name, this) as unknown);
      },
      set(this: object, value: unknown): void {
        const own = { value, enumerable: true, configurable: true, writable: true };
        Object.defineProperty(this, name, own);
      },
      configurable: true,
    });
  }
  return shim;
}
