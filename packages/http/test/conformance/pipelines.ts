import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { gate, moment, serve, trace, type Behaviours, type HttpModule } from './engine.ts';
import { leave, type Step } from './wire.ts';

const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const post = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi';
const trailed =
  'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-T: u\r\n\r\n';

type Done = (error?: Error | null) => void;
type Handler = (response: ServerResponse, done: Done, request: IncomingMessage) => unknown;

/** What leaves for requests of one segment, each with a handler of its own, and what their listeners hear. */
async function pipelined(
  http: HttpModule,
  requests: string,
  handlers: Handler[],
  ...steps: Step[]
): Promise<unknown> {
  const log: string[] = [];
  const over = gate();
  const left = [...handlers];
  await using serving = await serve(http, {}, (request, response) => {
    const number = handlers.length - left.length + 1;
    request.socket.once('close', () => over.open());
    trace(request, `request ${number}`, ['aborted', 'error', 'close'], log);
    trace(response, `response ${number}`, ['finish', 'error', 'close'], log);
    const done: Done = (error) =>
      log.push(`callback ${number} ${(error as NodeJS.ErrnoException)?.code ?? 'ok'}`);
    void left.shift()!(response, done, request);
  });
  const conversation = await serving.talk(requests, ...steps);
  await over.opened;
  await moment();
  return { conversation, log };
}

export const pipelines: Behaviours = {
  'promises go on behind the body of a request, before the next request': (http) =>
    pipelined(http, post + get, [
      async (response, done) => {
        await undefined;
        response.end('A', done);
      },
      (response) => response.socket!.destroySoon(),
    ]),
  'a stream goes on behind the body of a request, before the next request': (http) =>
    pipelined(http, post + get, [
      async (response, done) => {
        response.write('A', done);
        await undefined;
        response.end(done);
      },
      (_, __, request) => request.socket.end(),
    ]),
  'the next request of a body has its turn when the first is finished': (http) =>
    pipelined(http, post + get, [
      (response, done) => response.end('A', done),
      (response) => response.destroy(),
    ]),
  'a response goes on behind the trailers of a request, before the next request': (http) =>
    pipelined(http, get + trailed + get, [
      (response, done) => response.end('A', done),
      (response, done) => response.end('B', done),
      (_, __, request) => request.socket.end(),
    ]),
  'a body is over when the next handler has been called': (http) =>
    pipelined(http, post + get, [
      async (response, done, request) => {
        await once(request.resume(), 'end');
        response.end('A', done);
        setTimeout(() => request.socket.destroy(), 50);
      },
      (response) => response.destroy(),
    ]),
  'promises go on before a body is over': (http) =>
    pipelined(http, post, [
      async (response, done, request) => {
        response.end('A', done);
        await undefined;
        request.destroy();
      },
    ]),
  'promises go on before trailers: a request that is paused then does not end': (http) =>
    pipelined(http, trailed.replace('\r\n\r\n0', '\r\n\r\n2\r\nhi\r\n0'), [
      async (response, done, request) => {
        request.on('end', () => done(new Error('end')));
        request.resume();
        await undefined;
        request.pause();
        setTimeout(() => response.destroy(), 50);
      },
    ]),
  'from the first trailers on promises go on before each request': (http) =>
    pipelined(http, trailed + get + get, [
      (response, done) => response.end('A', done),
      async (response, done) => {
        await undefined;
        response.end('B', done);
      },
      (_, __, request) => request.socket.end(),
    ]),
  'an informational response of one that was destroyed before its turn': (http) =>
    pipelined(http, get + get, [
      (response, done) => response.end('A', done),
      (response, _, { socket }) => {
        response.destroy();
        response.writeProcessing();
        setTimeout(() => socket.destroy(), 50);
      },
    ]),
  'a response that was destroyed before its turn and is ended then': (http) =>
    pipelined(http, get + get + get, [
      (response) => setImmediate(() => response.end('A')),
      (response, done) => {
        response.destroy();
        setTimeout(() => response.end(done), 20);
      },
      (response, _, { socket }) => response.end('C', () => socket.end()),
    ]),
  'a response whose turn is not yet goes with the socket that ends': (http) =>
    pipelined(http, get + get, [
      (response, done) => response.end('A', done),
      (response, done, { socket }) => {
        response.end('B', done);
        socket.destroySoon();
      },
    ]),
  'an informational response whose turn is not yet goes with the socket that ends': (http) =>
    pipelined(http, get + get, [
      (response, done) => response.end('A', done),
      (response, _, { socket }) => {
        response.writeProcessing();
        socket.end();
      },
    ]),
  'a response whose turn is not yet goes with the first, which is destroyed': (http) =>
    pipelined(http, get + get, [
      (response, done, request) => {
        process.nextTick(() => {
          response.end('A', done);
          request.destroy();
        });
      },
      (response, done) => response.end('B', done),
    ]),
  'the socket writes before a response whose turn is not yet': (http) =>
    pipelined(http, get + get, [
      (response) => response.end('A'),
      (response, _, { socket }) => {
        response.end('B', () => socket.end());
        socket.write('raw');
      },
    ]),
  'the socket writes behind a finished response, whoever asks it to': (http) =>
    pipelined(http, get + get, [
      (response) => response.end('A'),
      (response, _, { socket }) => {
        socket.write('raw');
        response.end(() => socket.end());
      },
    ]),
  'what was written for a response that is destroyed before its turn leaves in its turn': (http) =>
    pipelined(
      http,
      get + get,
      [
        (response) => setImmediate(() => response.end('A')),
        (response, done) => {
          response.write('B', done);
          response.destroy();
        },
      ],
      /B\r\n$/,
      leave,
    ),
  'a response in parts, before its turn': (http) => {
    const written = gate();
    return pipelined(http, get + get + get, [
      async (response) => {
        await written.opened;
        response.end('A');
      },
      async (response, done) => {
        response.flushHeaders();
        response.write('B', done);
        await moment(5);
        response.write(Buffer.from('C'), done);
        response.addTrailers({ 'X-Sum': '1' });
        response.end('D', done);
        setImmediate(written.open);
      },
      (response, _, { socket }) => {
        response.cork();
        response.write('E');
        response.uncork();
        response.end(() => socket.end());
      },
    ]);
  },
};
