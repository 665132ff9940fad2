// Loaded by `register.ts` when a program asks for node:http. Most programs only make requests with it, so the engine and its 60 files
// are loaded by the first call of `http.createServer`, or by whoever reads `http.Server`, as an `import` of node:http does.
//
// Nothing of this package is imported here: a module that is just being loaded, by an `import` of the package itself, could not be
// required.
import { createRequire, syncBuiltinESMExports } from 'node:module';

type Http = typeof import('node:http');
type Registered = typeof import('./registered.ts');
type Made = ReturnType<Registered['enginesExports']>;

const require = createRequire(import.meta.url);
const http = require('node:http') as Http;
// Beside this file, with the same ending.
const engineFile = `./registered${import.meta.url.slice(import.meta.url.lastIndexOf('.'))}`;
const kNodeServer = Symbol.for('redline.http.NodeServer');
const { createServer: before } = http;
const server = Object.getOwnPropertyDescriptor(http, 'Server')!;
// Another copy of this package may have put its class there before, or be about to.
const isNodes = !(kNodeServer in ((server.get ?? server.value) as object));
const NodeServer = isNodes ? http.Server : undefined;
let made: Made | undefined;
let isLoading = false;

/** The engine's. `undefined` while the graph of modules that it is in is just being loaded: the next call will find it. */
function load(): Made | undefined {
  // The engine itself reads what is in node:http.
  if (made !== undefined || isLoading) return made;
  isLoading = true;
  try {
    put(require(engineFile) as Registered);
  } catch {
    // A graph of modules that is just being loaded has the engine in it: `import` waits for it, and live bindings follow.
    void import('./registered.ts').then(put, () => {});
  } finally {
    isLoading = false;
  }
  return made;
}

function put(registered: Registered): void {
  if (made !== undefined) return;
  made = registered.enginesExports(before);
  if (Object.getOwnPropertyDescriptor(http, 'Server')?.get === readServer) setServer(made.Server);
  syncBuiltinESMExports();
}

function createServer(this: unknown, ...given: unknown[]): unknown {
  return Reflect.apply(load()?.createServer ?? before, this, given);
}

function readServer(): unknown {
  return load()?.Server ?? NodeServer;
}

function writeServer(value: unknown): void {
  load();
  setServer(value);
}

function setServer(value: unknown): void {
  const attributes = { configurable: true, enumerable: true, writable: true };
  Object.defineProperty(http, 'Server', { ...attributes, value });
}

/** In the place of an export, even where an agent has made it read-only. */
function replace(value: unknown): void {
  const found = Object.getOwnPropertyDescriptor(http, 'createServer')!;
  if (found.configurable) {
    const { enumerable } = found;
    const attributes = { configurable: true, enumerable: enumerable!, writable: true };
    Object.defineProperty(http, 'createServer', { ...attributes, value });
  } else if (found.writable) {
    http.createServer = value as never;
  }
}

if (isNodes) {
  Object.defineProperty(createServer, 'length', { value: before.length });
  replace(createServer);
  if (server.configurable) {
    Object.defineProperty(http, 'Server', {
      configurable: true,
      enumerable: true,
      get: Object.assign(readServer, { [kNodeServer]: NodeServer }),
      set: writeServer,
    });
  }
  syncBuiltinESMExports();
  // Node does not tell its sources there: a method that is replaced before the engine is loaded would go unnoticed.
  if (process.permission !== undefined) load();
}
