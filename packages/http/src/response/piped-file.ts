import { EventEmitter } from 'node:events';
import fs from 'node:fs';
import type { EngineResponse } from '../exchange.ts';
import { defineHidden } from '../node/message-defaults.ts';
import { symbolOf, addFirstListener, hasListener } from '../node/node-internals.ts';
import { original, type Methods } from '../node/replaced-methods.ts';
import { FileTransfer, type FileStream, type StreamMethods } from './file-transfer.ts';

// `createReadStream(path).pipe(response)`, and everything built on it: `stream.pipeline`, send, Express, Fastify, Koa and
// Nest. A stream is recognised when it is piped, and keeps all its properties; only its reads, and the methods that would
// reveal them, go through a prototype inserted before Node's. See docs/design/http.md.

type Listener = (...rest: never[]) => unknown;

/** Smaller files are read in one go. */
const SMALL = 64 * 1024;
const isOff = process.env['REDLINE_HTTP_FILES'] === 'node';
const { removeListener } = EventEmitter.prototype;
const transfers = new WeakMap<object, FileTransfer>();

/** Node's prototype of file streams, its methods, and the prototype of streams that are piped into a response. */
interface Prototypes {
  readonly node: object;
  readonly methods: StreamMethods;
  readonly piped: object;
}

let prototypes: Prototypes | null | undefined;
let kFs: symbol | undefined;

/** A listener of "unpipe" is the first thing that `pipe` adds to a response: the "pipe" event that follows names the stream. */
export function expectFile(
  response: EngineResponse,
  listener: Listener,
  isPlain: (response: EngineResponse) => boolean,
): void {
  if (isOff || listener?.name !== 'onunpipe' || !isPlain(response)) return;
  if (hasListener(response, 'newListener') || hasListener(response, 'removeListener')) return;
  const onPipe = (stream: unknown): void => {
    removeListener.call(response as never, 'pipe', onPipe);
    recognise(stream, response, isPlain);
  };
  addFirstListener(response, 'pipe', onPipe);
}

function recognise(
  stream: unknown,
  response: EngineResponse,
  isPlain: (response: EngineResponse) => boolean,
): void {
  const found = (prototypes ??= findPrototypes());
  if (found === null || Reflect.getPrototypeOf(stream as object) !== found.node) return;
  const file = stream as FileStream & { start?: number };
  const isOwn = Object.hasOwn(file, '_read') || Object.hasOwn(file, '_destroy');
  if (isOwn || file.end - (file.start ?? 0) < SMALL) return;
  // The `fs` option replaces the file system.
  kFs ??= symbolOf(file, 'kFs');
  if (kFs === undefined || (file as never as Record<symbol, unknown>)[kFs] !== fs) return;
  transfers.set(file, new FileTransfer(file, response, found.methods, isPlain));
  Reflect.setPrototypeOf(file, found.piped);
}

/** Returns null if user code has replaced one of the methods overridden here. */
function findPrototypes(): Prototypes | null {
  const node = fs.ReadStream.prototype as never as Methods;
  const names = ['_read', '_destroy', 'pause', 'unpipe'];
  if (names.some((name) => typeof original(node, name) !== 'function')) return null;
  const methods = node as never as StreamMethods & Record<'pause' | 'unpipe', Listener>;
  const { _read, _destroy } = methods;
  const piped = Object.create(node) as object;
  const define = (name: string, method: (this: FileStream, ...rest: never[]) => unknown): void =>
    defineHidden(piped, name, method);
  define('_read', function readFile(size: number) {
    if (transfers.get(this)?.read(size) === false) leave(this, node);
  });
  define('_destroy', function destroyFile(...rest: Parameters<typeof _destroy>) {
    transfers.get(this)?.abandon();
    leave(this, node);
    _destroy.apply(this, rest);
  });
  define('pause', function pauseFile(...rest: never[]) {
    transfers.get(this)?.stop();
    return methods.pause.apply(this, rest);
  });
  define('unpipe', function unpipeFile(...rest: never[]) {
    transfers.get(this)?.stop();
    return methods.unpipe.apply(this, rest);
  });
  return { node, methods: { _read, _destroy }, piped };
}

/** Restores Node's prototype of the stream. */
function leave(stream: FileStream, node: object): void {
  transfers.delete(stream);
  Reflect.setPrototypeOf(stream, node);
}
