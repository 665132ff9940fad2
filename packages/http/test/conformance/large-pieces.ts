import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { Readable, type Writable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { gate, moment, serve, type Behaviours, type HttpModule, type Listener } from './engine.ts';
import { take, untilOver, type Manner, type Received } from './slow-reader.ts';
import { connect } from './wire.ts';

// Responses of many and large pieces, and clients that take them at their leisure, or leave.

const KIBIBYTE = 1024;
const MEBIBYTE = KIBIBYTE * KIBIBYTE;
const closing = 'Host: a\r\nConnection: close\r\n\r\n';
const get = `GET / HTTP/1.1\r\n${closing}`;
/** Around what the engine, a stream and a packet of the loopback treat differently. */
const sizes = [1, 16_383, 16_384, 16_385, 65_535, 65_536, 100_000, 3, 300_000, 7];

/** Another text for each number, so that a piece in the wrong place shows. */
function piece(number: number, size: number): Buffer {
  return Buffer.alloc(size, `${number}.`);
}

function pieces(count: number, size: number): Buffer[] {
  return Array.from({ length: count }, (_, number) => piece(number, size));
}

/** As a stream is piped: a writer that is told to wait does. */
async function writeAll(to: Writable, all: readonly Buffer[]): Promise<number> {
  let waits = 0;
  for (const each of all) {
    if (to.write(each)) continue;
    waits++;
    await once(to, 'drain');
  }
  return waits;
}

async function taken(
  http: HttpModule,
  listener: Listener,
  bytes: string | Buffer = get,
  manner: Manner = {},
): Promise<Received> {
  await using serving = await serve(http, {}, listener);
  return await take(serving.port, bytes, manner);
}

/** What a handler hears that goes on writing, when its client leaves after the first bytes. */
async function left(
  http: HttpModule,
  leave: 'destroy' | 'resetAndDestroy',
  write: (response: ServerResponse) => unknown,
): Promise<unknown> {
  const over = gate<unknown>();
  await using serving = await serve(http, {}, async (_, response) => {
    response.on('error', () => {});
    const closed = once(response, 'close');
    const written = Promise.resolve(write(response)).then(
      () => 'written',
      (error: NodeJS.ErrnoException) => error.code,
    );
    await closed;
    const { destroyed, writableEnded, writableFinished } = response;
    over.open({ destroyed, writableEnded, writableFinished, written: await written });
  });
  const socket = connect(serving.port);
  socket.write(get);
  await once(socket, 'data');
  socket.pause();
  await moment();
  socket[leave]();
  const heard = await over.opened;
  await serving.nobody();
  return heard;
}

/** A stream that never ends. */
function endless(): Readable {
  let number = 0;
  return new Readable({
    read() {
      this.push(piece(number++, 100_000));
    },
  });
}

const everySize: Listener = (_, response) => {
  for (const [number, size] of sizes.entries()) response.write(piece(number, size));
  response.end(piece(99, 40_000));
};

export const largePieces: Behaviours = {
  'pieces of every size, without a pause': (http) => taken(http, everySize),
  'pieces of every size, with a length': (http) =>
    taken(http, (request, response) => {
      const length = sizes.reduce((sum, size) => sum + size, 40_000);
      response.setHeader('Content-Length', length);
      everySize(request, response);
    }),
  'pieces of every size for HTTP/1.0': (http) =>
    taken(http, everySize, get.replace('HTTP/1.1', 'HTTP/1.0')),
  'pieces of every size for HEAD': (http) => taken(http, everySize, get.replace('GET', 'HEAD')),
  'pieces as text of several encodings': (http) =>
    taken(http, (_, response) => {
      response.write('é'.repeat(70_000));
      response.write('é'.repeat(70_000), 'latin1');
      response.write('c3a9'.repeat(30_000), 'hex');
      response.write('w6k='.repeat(1), 'base64');
      response.end('€'.repeat(70_000), 'utf16le');
    }),
  'pieces in turns of the loop, large and small': (http) =>
    taken(http, async (_, response) => {
      for (const [number, size] of sizes.entries()) {
        response.write(piece(number, size));
        if (number % 3 === 0) await new Promise(setImmediate);
        else if (number % 3 === 1) await new Promise<void>(process.nextTick);
        else await undefined;
      }
      response.end();
    }),
  'pieces in a cork': (http) =>
    taken(http, (_, response) => {
      response.cork();
      for (const [number, size] of sizes.entries()) response.write(piece(number, size));
      response.uncork();
      response.end(piece(99, 100_000));
    }),
  'pieces that are changed once they are written': (http) =>
    taken(http, async (_, response) => {
      const memory = Buffer.alloc(200_000);
      for (let number = 0; number < 20; number++) {
        memory.fill(`${number}.`);
        await new Promise((resolve) => response.write(memory, resolve));
      }
      response.end();
    }),
  'trailers behind large pieces': (http) =>
    taken(http, async (_, response) => {
      response.setHeader('Trailer', 'X-Sum');
      await writeAll(response, pieces(10, 200_000));
      response.addTrailers({ 'X-Sum': '1' });
      response.end();
    }),
  'callbacks of large pieces, in their order': async (http) => {
    const log: string[] = [];
    const received = await taken(http, (_, response) => {
      response.on('finish', () => log.push('finish'));
      for (const [number, size] of sizes.entries()) {
        response.write(piece(number, size), (error) => log.push(`${number} ${error ?? 'ok'}`));
      }
      response.end();
    });
    return { received, log };
  },
  'a slow reader and a writer that waits': async (http) => {
    let hasWaited = false;
    const listener: Listener = async (_, response) => {
      hasWaited = (await writeAll(response, pieces(64, 128 * KIBIBYTE))) > 0;
      response.end();
    };
    const received = await taken(http, listener, get, { every: 256 * KIBIBYTE });
    return { received, hasWaited };
  },
  'a slow reader and a writer that does not wait': (http) =>
    taken(
      http,
      (_, response) => {
        for (const each of pieces(64, 128 * KIBIBYTE)) response.write(each);
        response.end();
      },
      get,
      { every: 256 * KIBIBYTE },
    ),
  'a reader that stops in the middle': (http) =>
    taken(http, (_, response) => void pipeline(Readable.from(pieces(64, 200_000)), response), get, {
      every: 4 * MEBIBYTE,
      ms: 100,
    }),
  'a reader that ends its side while most is due': (http) =>
    taken(http, (_, response) => void response.end(piece(1, 8 * MEBIBYTE)), get, {
      every: MEBIBYTE,
      ms: 10,
      endsItsSide: true,
    }),
  'a file in large pieces, to a slow reader': (http) =>
    taken(
      http,
      (_, response) => {
        const end = 3 * MEBIBYTE;
        createReadStream(process.execPath, { end, highWaterMark: 200_000 }).pipe(response);
      },
      get,
      { every: 256 * KIBIBYTE },
    ),
  'what is compressed on its way, to a slow reader': (http) =>
    taken(
      http,
      (_, response) => {
        const source = Readable.from(pieces(40, 200_000));
        void pipeline(source, createGzip({ level: 0, chunkSize: 300_000 }), response);
      },
      get,
      { every: 256 * KIBIBYTE },
    ),
  'an upload that comes back, to a slow reader': (http) => {
    const body = Buffer.concat(pieces(30, 100_000));
    const head = `POST / HTTP/1.1\r\nContent-Length: ${body.length}\r\n${closing}`;
    return taken(
      http,
      (request, response) => {
        // Pieces come as the socket is read, and each would be a chunk.
        response.setHeader('Content-Length', body.length);
        request.pipe(response);
      },
      Buffer.concat([Buffer.from(head), body]),
      { every: 256 * KIBIBYTE },
    );
  },
  'large responses of a pipeline, the last one first': async (http) => {
    const responses: ServerResponse[] = [];
    const kept = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
    const listener: Listener = async (_, response) => {
      if (responses.push(response) < 3) return;
      for (const [number, each] of responses.toReversed().entries()) {
        // The digest has the heads of the later ones, and each server runs in a second of its own.
        each.sendDate = false;
        each.setHeader('Content-Length', 420_000);
        each.write(piece(number, 100_000));
        await new Promise(setImmediate);
        each.write(piece(number + 10, 300_000));
        each.end(piece(number + 20, 20_000));
      }
    };
    return await taken(http, listener, kept + kept + get, { every: 256 * KIBIBYTE });
  },
  'a slow reader keeps nobody waiting': async (http) => {
    await using serving = await serve(http, {}, async (request, response) => {
      const count = request.url === '/slow' ? 100 : 3;
      await writeAll(response, pieces(count, 200_000)).catch(() => {});
      response.end();
    });
    const slow = connect(serving.port).pause();
    slow.write(get.replace('/ ', '/slow '));
    await once(serving.server, 'request');
    const others = await Promise.all([1, 2, 3].map(() => take(serving.port, get)));
    slow.destroy();
    return others;
  },
  'a server that closes while a slow reader is owed much': async (http) => {
    await using serving = await serve(http, {}, async (_, response) => {
      serving.server.close();
      await writeAll(response, pieces(64, 128 * KIBIBYTE));
      response.end();
    });
    const closed = once(serving.server, 'close');
    const received = await take(serving.port, get, { every: MEBIBYTE, ms: 5 });
    await closed;
    return received;
  },
  'a reset amid a stream without an end': (http) =>
    left(http, 'resetAndDestroy', (response) => pipeline(endless(), response)),
  'an end of both sides amid a stream without an end': (http) =>
    left(http, 'destroy', (response) => pipeline(endless(), response)),
  'a reset amid pieces nobody waited for': (http) =>
    left(http, 'resetAndDestroy', (response) => {
      for (const each of pieces(64, 300_000)) response.write(each);
    }),
  'an end of both sides amid pieces nobody waited for': (http) =>
    left(http, 'destroy', (response) => {
      for (const each of pieces(64, 300_000)) response.write(each);
    }),
  'a reset behind the end of a large response': (http) =>
    left(http, 'resetAndDestroy', async (response) => {
      response.end(piece(1, 32 * MEBIBYTE));
      await finished(response);
    }),
  'a response that is destroyed amid large pieces': async (http) => {
    const whole = Buffer.concat(pieces(32, 300_000));
    let begun = 0;
    await using serving = await serve(http, {}, (_, response) => {
      response.setHeader('Content-Length', whole.length);
      for (const each of pieces(16, 300_000)) response.write(each);
      begun++;
      setTimeout(() => response.destroy(), 10);
    });
    const socket = connect(serving.port);
    const parts: Buffer[] = [];
    socket.on('data', (part: Buffer) => parts.push(part));
    socket.write(get);
    await untilOver(socket);
    const received = Buffer.concat(parts);
    const body = received.subarray(received.indexOf('\r\n\r\n') + 4);
    // How much had left is a matter of the moment.
    return [begun, body.length < whole.length, body.equals(whole.subarray(0, body.length))];
  },
};
