// Loaded by `register.ts` when a program loads node:child_process. The engine and its 35 files are loaded by the first call:
// many programs load the module and never start a child.
//
// Imports nothing of this package: a module that is still being loaded, by an `import` of the package itself, cannot be
// required.
import childProcess from 'node:child_process';
import * as nodeModule from 'node:module';

type Functions = typeof childProcess;
type Engine = typeof import('./child-process.ts');

/** Key of Node's own functions, kept for the engine of this and every other copy of the package. */
const kNodes = Symbol.for('redline.child-process.nodes');
const nodeChildProcess = (childProcess as never as { [key: symbol]: Functions | undefined })[
  kNodes
] ?? { ...childProcess };

/** The timers at start-up, for the engine: tests may have replaced them by the time it is loaded. */
const kTimers = Symbol.for('redline.child-process.timers');
const timers = { clearTimeout, setImmediate, setTimeout };

// `promisify.custom` of `node:util`.
const custom = Symbol.for('nodejs.util.promisify.custom');
let functions: Functions | undefined;

/** Returns the engine's functions; Node's own if, or as long as, the engine cannot be loaded. */
function ours(): Functions {
  return functions ?? load();
}

function load(): Functions {
  try {
    return use(nodeModule.createRequire(import.meta.url)(engineFile()) as Engine);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // A bundle has no file next to this one. Any other error comes from a module graph that is still loading and contains
    // the engine: the next call will find it.
    if (code === 'MODULE_NOT_FOUND' || code === 'ERR_MODULE_NOT_FOUND')
      functions = nodeChildProcess;
    return nodeChildProcess;
  }
}

/** Next to this file, with the same extension. A bundle in CommonJS, which has no `import.meta.url`, gives the engine. */
function engineFile(): string {
  const { url } = import.meta;
  return `./child-process${url.slice(url.lastIndexOf('.'))}`;
}

function use(engine: Engine): Functions {
  engine.addModuleObject(childProcess);
  functions = engine.childProcess;
  return functions;
}

function promised(name: 'exec' | 'execFile'): (...args: never[]) => never {
  return (ours()[name] as unknown as Record<symbol, (...args: never[]) => never>)[custom]!;
}

/** With the names and lengths of Node's functions. */
const lazy = {
  spawn: function spawn(file: never, args: never, options: never) {
    return ours().spawn(file, args, options);
  },
  fork: function fork(modulePath: never, ...rest: [never, never]) {
    return ours().fork(modulePath, ...rest);
  },
  exec: function exec(command: never, options: never, callback: never) {
    return ours().exec(command, options, callback);
  },
  execFile: function execFile(file: never, args: never, options: never, callback: never) {
    return ours().execFile(file, args, options, callback);
  },
  spawnSync: function spawnSync(file: never, args: never, options: never) {
    return ours().spawnSync(file, args, options);
  },
  execSync: function execSync(command: never, options: never) {
    return ours().execSync(command, options);
  },
  execFileSync: function execFileSync(file: never, args: never, options: never) {
    return ours().execFileSync(file, args, options);
  },
};

/** Source text that only Node's own function contains. */
const marks: Readonly<Record<keyof typeof lazy, string>> = {
  spawn: 'normalizeSpawnArguments(',
  fork: 'ERR_CHILD_PROCESS_IPC_REQUIRED(',
  exec: 'normalizeExecArgs(',
  execFile: 'normalizeExecFileArgs(',
  spawnSync: 'child_process.spawnSync(',
  execSync: 'checkExecSyncError(',
  execFileSync: 'checkExecSyncError(',
};

/** @param engine Without it, the engine is loaded by the first call. */
export function putInPlace(engine?: Engine): void {
  if (engine !== undefined) use(engine);
  for (const name of ['exec', 'execFile'] as const) {
    const value = (...args: never[]): never => promised(name)(...args);
    Object.defineProperty(value, 'name', { value: name });
    Object.defineProperty(lazy[name], custom, { enumerable: false, value });
  }
  Object.defineProperty(childProcess, kNodes, { configurable: true, value: nodeChildProcess });
  Object.defineProperty(childProcess, kTimers, { configurable: true, value: timers });
  for (const name of Object.keys(lazy) as (keyof typeof lazy)[]) {
    // If a tool loaded earlier, or another copy of this package, has wrapped it, it stays: replaced, the tool would see no
    // calls.
    const text = Function.prototype.toString.call(childProcess[name]);
    if (text.includes(marks[name])) childProcess[name] = lazy[name] as never;
  }
  nodeModule.syncBuiltinESMExports();
}
