// For `node --import @redline/http/register` and `--require`: makes every later `http.createServer` and `new http.Server` of
// this thread the engine's, in dependencies too.
//
// Every Node child inherits this flag, even one that never serves. node:http alone takes 5 ms of CPU and the engine 60, so
// this file waits until a module name is resolved to node:http. A resolve hook makes each `require` 25 µs slower, so it is
// removed after a few. One file without imports: another file, or an `import` of `node:module`, takes half a millisecond.
import type { registerHooks as RegisterHooks } from 'node:module';

const MAX_RESOLVED = 40;
const HTTP = 'node:http';
// Next to this file, with the same extension.
const laterFile = `./register-later${import.meta.url.slice(import.meta.url.lastIndexOf('.'))}`;
const { env, getBuiltinModule, permission, platform, versions } = process;
const { moduleLoadList } = process as never as { moduleLoadList?: string[] };
const module: Partial<typeof import('node:module')> = getBuiltinModule?.('node:module') ?? {};

const isElsewhere = versions['bun'] !== undefined || versions['deno'] !== undefined;
if (env['REDLINE_HTTP'] !== 'node' && platform === 'linux' && !isElsewhere) {
  // A test runner may have replaced them by the time of the first server.
  const { nextTick } = process;
  const { queueMicrotask, setImmediate, setTimeout, Date } = globalThis;
  Object.defineProperty(process, Symbol.for('redline.http.clocks'), {
    configurable: true,
    value: { nextTick, queueMicrotask, setImmediate, setTimeout, Date },
  });
  const canRequire = (process.features as { require_module?: boolean }).require_module === true;
  // Node before 22.15 lacks these hooks.
  const registerHooks = canRequire ? module.registerHooks : undefined;
  const isLoaded = moduleLoadList?.includes('NativeModule http') ?? true;
  // The permission model may forbid reading the engine's files later.
  if (registerHooks === undefined || isLoaded || permission !== undefined) putInPlace();
  else waitFor(putInPlace, registerHooks);
}

function waitFor(asked: () => void, registerHooks: typeof RegisterHooks): void {
  let left = MAX_RESOLVED;
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context);
      left -= 1;
      if (left === 0 || resolved.url === HTTP) end();
      return resolved;
    },
  });
  process.getBuiltinModule = watched as typeof getBuiltinModule;

  function watched(id: string): object | undefined {
    if (id === 'http' || id === HTTP) end();
    return getBuiltinModule(id);
  }
  Object.defineProperty(watched, 'name', { value: 'getBuiltinModule' });

  function end(): void {
    if (left < 0) return;
    left = -1;
    hooks.deregister();
    if (process.getBuiltinModule === watched) process.getBuiltinModule = getBuiltinModule;
    asked();
  }
}

function putInPlace(): void {
  try {
    module.createRequire!(import.meta.url)(laterFile);
  } catch {
    // Fails on Node before 22.12, which cannot require it, and in a bundle, which has no file next to this one.
    void import('./register-now.ts').catch(() => {});
  }
}
