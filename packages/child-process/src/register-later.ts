// Loaded by `register.ts` when a program asks for node:child_process. The engine and its 35 files are loaded by the first call:
// many programs load the module and never start a child.
//
// Nothing of this package is imported here: a module that is just being loaded, by an `import` of the package itself, could not be
// required.
import childProcess from 'node:child_process';
import { createRequire, syncBuiltinESMExports } from 'node:module';

type Functions = typeof childProcess;
type Engine = typeof import('./child-process.ts');

/** Where Node's own functions are kept for the engine of this and every other copy of the package. */
const kNodes = Symbol.for('redline.child-process.nodes');
const nodeChildProcess = (childProcess as never as { [key: symbol]: Functions | undefined })[
  kNodes
] ?? { ...childProcess };

/** The timers of the start, for the engine: tests that replace them may run when it is loaded. */
const kTimers = Symbol.for('redline.child-process.timers');
const timers = { clearTimeout, setImmediate, setTimeout };

// `promisify.custom` of `node:util`.
const custom = Symbol.for('nodejs.util.promisify.custom');
// Beside this file, with the same ending.
const engineFile = `./child-process${import.meta.url.slice(import.meta.url.lastIndexOf('.'))}`;
let functions: Functions | undefined;

/** The engine's functions; Node's own where, or as long as, the engine cannot be loaded. */
function ours(): Functions {
  return functions ?? load();
}

function load(): Functions {
  try {
    return use(createRequire(import.meta.url)(engineFile) as Engine);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // In a bundle there is nothing beside this file. Any other error is that of a graph of modules that is just being loaded
    // and has the engine in it: the next call will find it.
    if (code === 'MODULE_NOT_FOUND' || code === 'ERR_MODULE_NOT_FOUND')
      functions = nodeChildProcess;
    return nodeChildProcess;
  }
}

function use(engine: Engine): Functions {
  engine.addModuleObject(childProcess);
  functions = engine.childProcess;
  return functions;
}

function promised(name: 'exec' | 'execFile'): (...args: never[]) => never {
  return (ours()[name] as unknown as Record<symbol, (...args: never[]) => never>)[custom]!;
}

/** With the names and lengths of Node's. */
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

/** A call that only the source text of Node's own function contains. */
const marks: Readonly<Record<keyof typeof lazy, string>> = {
  spawn: 'normalizeSpawnArguments(',
  fork: 'ERR_CHILD_PROCESS_IPC_REQUIRED(',
  exec: 'normalizeExecArgs(',
  execFile: 'normalizeExecFileArgs(',
  spawnSync: 'child_process.spawnSync(',
  execSync: 'checkExecSyncError(',
  execFileSync: 'checkExecSyncError(',
};

/** @param engine None: it is loaded by the first call. */
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
    // A tool that was loaded earlier, or another copy of this package, has wrapped it: in its place, the tool would see nothing.
    const text = Function.prototype.toString.call(childProcess[name]);
    if (text.includes(marks[name])) childProcess[name] = lazy[name] as never;
  }
  syncBuiltinESMExports();
}
