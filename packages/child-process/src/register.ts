// For `node --import @redline/child-process/register app.js` and `--require`: everything that is loaded from here on and asks for
// node:child_process gets the engine, dependencies included. Modules that are imported see it in their named imports,
// even those that were loaded before.
//
// Every Node child inherits this line, also one that never starts a child itself. So the engine and its 35 files are loaded by
// the first call: loading them here doubled the CPU time of a child's start. `node:util`, whose exports are loaded one by one for
// whoever imports it, is 4 ms of that.
import childProcess from 'node:child_process';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { addModuleObject, nodeChildProcess, whyNot } from './node/node-child-process.ts';

type Functions = typeof childProcess;

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
    const module = createRequire(import.meta.url)(engineFile) as { childProcess: Functions };
    functions = module.childProcess;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // In a bundle there is nothing beside this file. Any other error is that of a graph of modules that is just being loaded
    // and has the engine in it: the next call will find it.
    if (code === 'MODULE_NOT_FOUND' || code === 'ERR_MODULE_NOT_FOUND')
      functions = nodeChildProcess;
    return nodeChildProcess;
  }
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

/** What the text of Node's own function has in it. */
const marks: Readonly<Record<keyof typeof lazy, string>> = {
  spawn: 'normalizeSpawnArguments(',
  fork: 'ERR_CHILD_PROCESS_IPC_REQUIRED(',
  exec: 'normalizeExecArgs(',
  execFile: 'normalizeExecFileArgs(',
  spawnSync: 'child_process.spawnSync(',
  execSync: 'checkExecSyncError(',
  execFileSync: 'checkExecSyncError(',
};

if (whyNot() === undefined) {
  for (const name of ['exec', 'execFile'] as const) {
    const value = (...args: never[]): never => promised(name)(...args);
    Object.defineProperty(value, 'name', { value: name });
    Object.defineProperty(lazy[name], custom, { enumerable: false, value });
  }
  for (const name of Object.keys(lazy) as (keyof typeof lazy)[]) {
    // A tool that was loaded earlier, or another copy of this package, has wrapped it: in its place, the tool would see nothing.
    const text = Function.prototype.toString.call(childProcess[name]);
    if (text.includes(marks[name])) childProcess[name] = lazy[name] as never;
  }
  addModuleObject(childProcess);
  syncBuiltinESMExports();
  // Node before 22.12 cannot require what follows: its functions serve until it is there.
  if (!(process.features as { require_module?: boolean }).require_module) {
    functions = nodeChildProcess;
    void import(engineFile).then(
      (module: { childProcess: Functions }) => (functions = module.childProcess),
    );
  }
}
