// One server in one thread: it gets its connection into a state, lets go of what a case says, and either has no reason to
// stay or reports that it goes on.
import http, { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { createServer } from '../../src/index.ts';
import { LARGE, type Life } from './lives.ts';

const { engine, state, reference, end, timeouts } = workerData as Life;
const port = parentPort!;

/** Each look is a turn of the loop, in which everything that has come is handled. */
const LOOKS = 12;
const LOOK_MS = 15;

function later(callback: () => void): void {
  setTimeout(callback, LOOK_MS).unref();
}

/** Calls back once the reader has stopped reading: more than its buffer holds has come. */
function whenFull(request: IncomingMessage, callback: () => void): void {
  if (request.readableLength >= request.readableHighWaterMark) callback();
  else later(() => whenFull(request, callback));
}

function reached(socket: Socket): void {
  if (reference !== 'none') socket.unref();
  if (reference === 'unref, ref') socket.ref();
  port.postMessage('reached');
}

function handle(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request;
  switch (state) {
    case 'idle':
      response.end('answered', () => later(() => reached(socket)));
      break;
    case 'unread':
      whenFull(request, () => reached(socket));
      break;
    case 'request paused':
      request.on('data', () => request.pause());
      whenFull(request, () => reached(socket));
      break;
    case 'socket paused':
      socket.pause();
      later(() => reached(socket));
      break;
    case 'socket resumed':
      socket.pause();
      later(() => {
        socket.resume();
        later(() => reached(socket));
      });
      break;
    case 'writing':
      // Without an end: Node's close() counts a connection as idle once that is said.
      response.write(Buffer.alloc(LARGE));
      later(() => reached(socket));
      break;
    default:
      later(() => later(() => reached(socket)));
  }
}

const server: Server =
  engine === 'node'
    ? http.createServer(handle)
    : createServer({ threaded: engine === 'thread' }, handle);
if (timeouts === 'off') {
  Object.assign(server, { timeout: 0, requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 0 });
}
if (state === 'half open') Object.assign(server, { httpAllowHalfOpen: true });
if (state === 'connected') server.on('connection', reached);
if (state === 'bytes read') {
  server.on('connection', (socket: Socket) => {
    reached(socket);
    // Node's own code serves it from here on.
    socket.on('data', () => {});
  });
}
if (state === 'upgraded') {
  server.on('upgrade', (_, socket: Socket) => {
    socket.on('error', () => {});
    reached(socket);
  });
}
server.on('close', () => port.postMessage('closed'));
server.listen(0, '127.0.0.1', () => port.postMessage((server.address() as AddressInfo).port));

port.on('message', () => {
  if (end === 'close') server.close();
  else server.unref();
  let looks = 0;
  later(function look() {
    looks += 1;
    if (looks === LOOKS) port.postMessage('stays');
    else later(look);
  });
});
port.unref();
