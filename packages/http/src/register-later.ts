// Loaded by `register.ts` when a program loads node:http. Most programs only make requests with it, so the engine and its 60
// files are loaded by the first call of `http.createServer` or read of `http.Server`; an `import` of node:http reads it.
//
// Imports nothing of this package: a module that is still being loaded, by an `import` of the package itself, cannot be
// required.
import { createRequire, syncBuiltinESMExports } from 'node:module';

type Http = typeof import('node:http');
type Registered = typeof import('./registered.ts');
type Made = ReturnType<Registered['enginesExports']>;

const require = createRequire(import.meta.url);
const http = require('node:http') as Http;
// Next to this file, with the same extension.
const engineFile = `./registered${import.meta.url.slice(import.meta.url.lastIndexOf('.'))}`;
const kNodeServer = Symbol.for('redline.http.NodeServer');
const { createServer: before } = http;
const server = Object.getOwnPropertyDescriptor(http, 'Server')!;
// Another copy of this package may have set its class already, or be about to.
const isNodes = !(kNodeServer in ((server.get ?? server.value) as object));
const NodeServer = isNodes ? http.Server : undefined;
let made: Made | undefined;
let isLoading = false;

/** Returns the engine's exports; `undefined` while its module graph is being loaded: the next call will find them. */
function load(): Made | undefined {
  // The engine itself reads node:http's exports during its load.
  if (made !== undefined || isLoading) return made;
  isLoading = true;
  try {
    put(require(engineFile) as Registered);
  } catch {
    // The engine is in a module graph that is still loading: `import` waits for it, and live bindings follow.
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

/** Replaces the export, even if an agent has made it read-only. */
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
  // With the permission model Node hides its sources: a method replaced before the engine is loaded would go unnoticed.
  if (process.permission !== undefined) load();
}
