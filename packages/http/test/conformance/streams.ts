import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import * as node from 'node:http';
import { Socket } from 'node:net';
import {
  Duplex,
  finished,
  PassThrough,
  pipeline,
  Readable,
  Stream,
  Transform,
  Writable,
} from 'node:stream';
import { finished as whenFinished, pipeline as pipe } from 'node:stream/promises';
import { createGunzip, createGzip, gunzipSync, gzipSync } from 'node:zlib';
import {
  ask,
  attempt,
  describeError,
  gate,
  serve,
  textOf,
  type Behaviours,
  type HttpModule,
  type Listener,
  type Options,
  type Upgradable,
} from './engine.ts';
import { until } from '@redline/services/until';
import { leave } from './wire.ts';

const get = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
const posted = 'POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 6\r\n\r\nabcdef';

async function noted(
  http: HttpModule,
  listener: (...args: Parameters<Listener>) => unknown,
  bytes = posted,
): Promise<unknown> {
  const notes: unknown[] = [];
  const conversation = await ask(
    http,
    async (request, response) => {
      notes.push(await listener(request, response));
      if (!response.writableEnded) response.end();
    },
    [bytes],
  );
  return { notes, conversation };
}

/** How often a response that writes more than the socket takes hears "drain", and how much arrives. */
async function drained(
  http: HttpModule,
  prepare: (response: node.ServerResponse) => void,
  options: Options = {},
): Promise<unknown> {
  let drains = 0;
  const listener: Listener = async (_, response) => {
    prepare(response);
    for (let left = 5; left > 0; left--) {
      if (response.write('x'.repeat(100_000))) continue;
      await once(response, 'drain');
      drains++;
    }
    response.end();
  };
  const { received, end } = await ask(http, listener, [get], options);
  return { drains, length: received.length, end };
}

export const streams: Behaviours = {
  'drain of a class of the server': (http) =>
    drained(http, () => {}, { ServerResponse: class extends node.ServerResponse {} as never }),
  'drain of a response that was corked': (http) =>
    drained(http, (response) => {
      response.cork();
      process.nextTick(() => response.uncork());
    }),
  'drain of a response whose socket was written to': (http) =>
    drained(http, (response) => {
      response.write('A');
      response.socket!.write('');
    }),
  'drain of a response that waited for its turn corked': async (http) => {
    let drains = 0;
    const listener: Listener = async (request, response) => {
      if (request.url === '/first') return void setImmediate(() => response.end('A'));
      response.cork();
      response.write('x'.repeat(100_000));
      process.nextTick(() => response.uncork());
      await once(response, 'drain');
      drains++;
      response.end();
    };
    const { received } = await ask(http, listener, [
      get.replace('/ ', '/first ').replace('close', 'keep-alive') + get,
    ]);
    return { drains, length: received.length };
  },
  instanceof: (http) =>
    noted(http, (request, response) => [
      request instanceof node.IncomingMessage,
      request instanceof Readable,
      request instanceof Stream,
      response instanceof node.ServerResponse,
      response instanceof node.OutgoingMessage,
      response instanceof Stream,
      response instanceof Writable,
      request.socket instanceof Socket,
      request.socket instanceof Duplex,
      request.constructor.name,
      response.constructor.name,
    ]),
  'a server is a net.Server': async (http) => {
    const { Server } = await import('node:net');
    const server = http.createServer();
    return [server instanceof Server, server instanceof node.Server, server.constructor.name];
  },
  'what a request says of itself': (http) =>
    noted(http, async (request, response) => {
      const before = [
        request.method,
        request.url,
        request.httpVersion,
        request.complete,
        request.aborted,
        request.readable,
        request.readableFlowing,
        request.readableEnded,
        request.readableObjectMode,
        request.destroyed,
        (request as Upgradable).upgrade,
        request.statusCode,
        request.statusMessage,
        request.readableHighWaterMark,
        request.readableEncoding,
        request.trailers,
        request.rawTrailers,
        response.req === request,
        response.statusCode,
        response.statusMessage ?? null,
      ];
      await textOf(request);
      return [before, request.complete, request.readableEnded, request.readable, request.destroyed];
    }),
  'url and method may be changed': (http) =>
    noted(http, (request) => {
      request.url = '/rewritten';
      request.method = 'PUT';
      return [request.url, request.method, Object.keys(request).includes('url')];
    }),
  "properties of one's own": (http) =>
    noted(http, (request, response) => {
      Object.assign(request, { id: 1 });
      Object.assign(response, { locals: {} });
      return [(request as unknown as { id: number }).id, Object.keys(response).includes('locals')];
    }),
  'async iteration': (http) => noted(http, (request) => textOf(request)),
  'iteration that stops early': (http) =>
    noted(http, async (request) => {
      for await (const chunk of request.iterator({ destroyOnReturn: false })) {
        return (chunk as Buffer).length > 0;
      }
      return undefined;
    }),
  'paused reading with read()': (http) =>
    noted(http, async (request) => {
      await once(request, 'readable');
      const parts = [request.read(2)?.toString(), request.read(3)?.toString()];
      request.unshift(Buffer.from('!'));
      parts.push(request.read(1)?.toString());
      parts.push(await textOf(request));
      return parts;
    }),
  'pipe into a stream': (http) =>
    noted(http, async (request) => {
      const through = request.pipe(new PassThrough());
      return textOf(through);
    }),
  'pipe and unpipe': (http) =>
    noted(http, async (request) => {
      const through = new PassThrough();
      request.pipe(through);
      request.unpipe(through);
      return [request.isPaused(), request.readableFlowing, await textOf(request)];
    }),
  'a request piped into its response': (http) =>
    ask(http, (request, response) => void request.pipe(response), [posted]),
  'pipeline through a transform': (http) =>
    ask(
      http,
      (request, response) => {
        const upper = new Transform({
          transform(chunk, _, done) {
            done(null, String(chunk).toUpperCase());
          },
        });
        pipeline(request, upper, response, () => {});
      },
      [posted],
    ),
  'gunzip the request, gzip the response': async (http) => {
    const packed = gzipSync('hello zip');
    const { received } = await ask(
      http,
      (request, response) => {
        pipeline(request, createGunzip(), createGzip(), response, () => {});
      },
      [`POST / HTTP/1.0\r\nContent-Length: ${packed.length}\r\n\r\n`, packed],
    );
    const body = Buffer.from(received.slice(received.indexOf('\r\n\r\n') + 4), 'latin1');
    return gunzipSync(body).toString();
  },
  'a file piped into a response': (http) =>
    ask(
      http,
      (_, response) => {
        createReadStream(import.meta.filename, { start: 0, end: 40 }).pipe(response);
      },
      [get],
    ),
  'pipeline of promises, with an error on its way': async (http) => {
    const seen = gate<unknown>();
    await using serving = await serve(http, {}, async (_, response) => {
      try {
        await pipe(async function* broken() {
          yield 'begun';
          throw new Error('broken');
        }, response);
      } catch (error) {
        seen.open([describeError(error), response.destroyed]);
      }
    });
    const conversation = await serving.talk(get);
    return [conversation.end, await seen.opened];
  },
  'finished of both': async (http) => {
    const seen: string[] = [];
    const both = gate();
    const done = (name: string) => (error?: Error | null) => {
      seen.push(`${name} ${error === undefined || error === null}`);
      if (seen.length === 2) both.open();
    };
    await using serving = await serve(http, {}, (request, response) => {
      finished(request, done('request'));
      finished(response, done('response'));
      request.resume();
      response.end('x');
    });
    await serving.talk(get);
    await both.opened;
    return seen.toSorted();
  },
  'finished of a response, as a promise': async (http) => {
    const seen = gate<unknown>();
    await using serving = await serve(http, {}, async (_, response) => {
      response.end('x');
      await whenFinished(response);
      seen.open([response.writableFinished, response.destroyed]);
    });
    await serving.talk(get);
    return await seen.opened;
  },
  'Readable.toWeb of a request': (http) =>
    noted(http, async (request) => {
      const web = Readable.toWeb(request);
      return new Response(web as unknown as ReadableStream).text();
    }),
  'a Response piped from the web': (http) =>
    ask(
      http,
      (_, response) => {
        Readable.fromWeb(new Response('from the web').body as never).pipe(response);
      },
      [get],
    ),
  'map, filter, toArray of a request': (http) =>
    noted(http, (request) => request.map((chunk: Buffer) => chunk.toString()).toArray()),
  setEncoding: (http) =>
    noted(http, async (request) => {
      request.setEncoding('hex');
      return [request.readableEncoding, await textOf(request)];
    }),
  'pause before data': (http) =>
    noted(http, async (request) => {
      const chunks: string[] = [];
      request.on('data', (chunk) => chunks.push(String(chunk)));
      request.pause();
      await until('the body has come', () => request.readableLength > 0);
      const before = chunks.length;
      request.resume();
      await once(request, 'end');
      return [before, chunks.join('')];
    }),
  'listening late': (http) =>
    noted(http, async (request) => {
      await until('the body has come', () => request.readableLength > 0);
      return textOf(request);
    }),
  'a response into which nobody may write twice': (http) =>
    noted(http, (_, response) => {
      response.end('once');
      return [response.writable, response.writableEnded, attempt(() => response.flushHeaders())];
    }),
  'pipe of a response throws': (http) =>
    noted(http, (_, response) => {
      response.on('error', () => {});
      return attempt(() => response.pipe(new PassThrough()));
    }),
  'addListener, once and off of both': (http) =>
    noted(http, (request, response) => {
      const listener = () => {};
      request.on('close', listener).off('close', listener);
      response.once('finish', listener).removeListener('finish', listener);
      return [request.listenerCount('close'), response.listenerCount('finish')];
    }),
  'a kept connection gives fresh streams': async (http) => {
    const seen = new Set<unknown>();
    await using serving = await serve(http, {}, async (request, response) => {
      seen.add(request).add(response);
      response.end(await textOf(request));
    });
    const again = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nab;';
    await serving.talk(again, /ab;$/, again, /ab;$/, again, /ab;$/, leave);
    return seen.size;
  },
  "classes of one's own": async (http) => {
    class MyRequest extends node.IncomingMessage {
      get mine(): string {
        return `my ${this.url}`;
      }
    }
    class MyResponse extends node.ServerResponse {
      send(text: string): void {
        this.end(text);
      }
    }
    return ask(
      http,
      (request, response) => {
        (response as MyResponse).send((request as unknown as MyRequest).mine);
      },
      [get],
      { IncomingMessage: MyRequest, ServerResponse: MyResponse as never },
    );
  },
  'highWaterMark of a server': (http) =>
    ask(
      http,
      (request, response) => {
        response.end(
          `${request.readableHighWaterMark} ${response.writableHighWaterMark} ${request.socket.writableHighWaterMark}`,
        );
      },
      [get],
      { highWaterMark: 1_234 },
    ),
  'writing to the socket beside the response': (http) =>
    ask(
      http,
      (request) => {
        request.socket.write('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nby hand');
        request.socket.end();
      },
      [get],
    ),
};
