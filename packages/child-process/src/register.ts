// For `node --import @redline/child-process/register app.js` and `--require`: all code loaded later that uses
// node:child_process gets the engine, dependencies included. Imported modules see it in their named imports, even those
// loaded earlier.
//
// Every Node child inherits this flag, even one that never starts a child itself. node:child_process alone takes 5 ms of
// CPU, so this file waits until a module name is resolved to it. A resolve hook makes each `require` 25 µs slower, so it is
// removed after a few. One file without imports: another file, or an `import` of `node:module`, takes half a millisecond.
import type { registerHooks as RegisterHooks } from 'node:module';

type Later = typeof import('./register-later.ts');

const MAX_RESOLVED = 40;
/** The module, and the Node modules that use it themselves. */
const ASKED = new Set(['node:child_process', 'node:cluster', 'node:test']);
// Next to this file, with the same extension.
const laterFile = `./register-later${import.meta.url.slice(import.meta.url.lastIndexOf('.'))}`;
const { env, getBuiltinModule, permission, platform, versions } = process;
const { moduleLoadList } = process as never as { moduleLoadList?: string[] };
const module: Partial<typeof import('node:module')> = getBuiltinModule?.('node:module') ?? {};

const isElsewhere = versions['bun'] !== undefined || versions['deno'] !== undefined;
// The permission model's checks are inside Node's own functions.
const isNodes = env['REDLINE_CHILD_PROCESS'] === 'node' || permission !== undefined;
if (platform === 'linux' && !isElsewhere && !isNodes) {
  const canRequire = (process.features as { require_module?: boolean }).require_module === true;
  // Node before 22.15 lacks these hooks.
  const registerHooks = canRequire ? module.registerHooks : undefined;
  const isLoaded = moduleLoadList?.includes('NativeModule child_process') ?? true;
  if (registerHooks === undefined || isLoaded) putInPlace();
  else waitFor(putInPlace, registerHooks);
}

function waitFor(asked: () => void, registerHooks: typeof RegisterHooks): void {
  let left = MAX_RESOLVED;
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context);
      left -= 1;
      if (left === 0 || ASKED.has(resolved.url)) end();
      return resolved;
    },
  });
  process.getBuiltinModule = watched as typeof getBuiltinModule;

  function watched(id: string): object | undefined {
    if (ASKED.has(id) || ASKED.has(`node:${id}`)) end();
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
    const later = module.createRequire!(import.meta.url)(laterFile) as Later;
    later.putInPlace();
  } catch {
    // Fails on Node before 22.12, which cannot require it, and in a bundle, which has no file next to this one.
    void import('./register-now.ts').catch(() => {});
  }
}
