/** Owners of a frame's code, by which the flamegraph filters. */
export const owners = ['app', 'deps', 'core', 'v8'] as const;

export type Owner = (typeof owners)[number];

export const ownerNames: Record<Owner, string> = {
  app: 'app',
  deps: 'deps',
  core: 'Node core',
  v8: 'V8',
};

/**
 * Returns the owner of a function with source, by its URL: the app, a package, or Node. Node before 16 names its own modules by a
 * bare file name (`events.js`, `internal/timers.js`).
 */
export function ownerOfUrl(url: string): Owner {
  if (url === '') return 'v8';
  if (url.startsWith('node:') || url.startsWith('internal/')) return 'core';
  if (url.startsWith('wasm:')) return 'v8';
  const isPath = url.includes('/') || url.includes('\\');
  if (!isPath && url.endsWith('.js')) return 'core';
  return /[\\/]node_modules[\\/]/.test(url) ? 'deps' : 'app';
}

/**
 * Returns the owner of a frame. Without source it is a builtin of V8, unless Node's own code called it under a name that no builtin
 * has: it is then a function of Node written in C++, such as `writeUtf8String`.
 */
export function ownerOfFrame(
  frame: { url: string; functionName: string },
  caller: Owner | undefined,
): Owner {
  if (frame.url !== '' || caller !== 'core') return ownerOfUrl(frame.url);
  return frame.functionName.startsWith('(') || isBuiltin(frame.functionName) ? 'v8' : 'core';
}

const builtins = new Set<string>();
// prettier-ignore
const holders: object[] = [
  globalThis, Array, ArrayBuffer, BigInt, Boolean, DataView, Date, Error, Function, JSON, Map, Math, Number, Object,
  Promise, Proxy, Reflect, RegExp, Set, String, Symbol, Uint8Array, WeakMap, WeakRef, WeakSet,
  Object.getPrototypeOf(Uint8Array), Object.getPrototypeOf([].values()), Object.getPrototypeOf(new Map().values()),
  Object.getPrototypeOf(new Set().values()), Object.getPrototypeOf((function* () {})()),
];
for (const holder of holders) {
  for (const object of [holder, (holder as { prototype?: object }).prototype]) {
    if (!object) continue;
    for (const name of Object.getOwnPropertyNames(object)) builtins.add(name);
  }
}

function isBuiltin(name: string): boolean {
  return builtins.has(name.replace(/^(get|set) /, ''));
}
