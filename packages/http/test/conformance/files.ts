import { AsyncLocalStorage } from 'node:async_hooks';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import fs, { type ReadStream } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, pipeline, Writable } from 'node:stream';
import { pipeline as pipe } from 'node:stream/promises';
import {
  gate,
  moment,
  serve,
  trace,
  type Behaviours,
  type HttpModule,
  type Options,
} from './engine.ts';
import { take, untilOver, type Manner } from './slow-reader.ts';
import { connect } from './wire.ts';

type Serve = (file: string, response: ServerResponse, url: string) => unknown;

const KIB = 1024;
const MIB = 1024 * KIB;
const get = request('/');

function request(path: string, lines = 'Connection: close\r\n', version = '1.1'): string {
  return `GET ${path} HTTP/${version}\r\nHost: a\r\n${lines}\r\n`;
}

const contents = new Map<number, Buffer>();

/** Bytes that differ wherever one looks. */
function bytesOf(length: number): Buffer {
  let bytes = contents.get(length);
  if (bytes === undefined) {
    bytes = Buffer.alloc(length, 'x');
    for (let at = 0; at + 4 <= length; at += 4) bytes.writeUInt32LE((at * 2_654_435_761) >>> 0, at);
    contents.set(length, bytes);
  }
  return bytes;
}

function digestOf(bytes: Buffer): string {
  return createHash('sha1').update(bytes).digest('hex');
}

/** Runs with a folder of its own, which has a file of so many bytes. */
async function withFile<T>(
  length: number,
  use: (file: string, bytes: Buffer) => Promise<T>,
): Promise<T> {
  const folder = fs.mkdtempSync(join(tmpdir(), 'redline-http-files-'));
  try {
    const file = join(folder, 'file');
    const bytes = bytesOf(length);
    fs.writeFileSync(file, bytes);
    return await use(file, bytes);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** A client takes a file as `respond` gives it. */
async function taken(
  http: HttpModule,
  length: number,
  respond: Serve,
  {
    bytes = get,
    manner,
    options = {},
  }: { bytes?: string; manner?: Manner; options?: Options } = {},
): Promise<unknown> {
  return await withFile(length, async (file, content) => {
    const noted = gate<unknown>();
    await using serving = await serve(http, options, (asked, response) => {
      noted.open(respond(file, response, asked.url!));
    });
    const { head, length: received, digest } = await take(serving.port, bytes, manner);
    const notes = await noted.opened;
    return { head, received, isWhole: digest === digestOf(content), digest, notes };
  });
}

/** A client that has read the beginning of a response, and then waits for `act` before it reads on. */
async function interrupted(
  http: HttpModule,
  length: number,
  respond: (file: string, response: ServerResponse) => ReadStream,
  act: (stream: ReadStream, response: ServerResponse, file: string) => unknown,
): Promise<{
  received: Buffer;
  content: Buffer;
  stream: ReadStream;
  response: ServerResponse;
  noted: unknown;
}> {
  return await withFile(length, async (file, content) => {
    const begun = gate<[ReadStream, ServerResponse]>();
    await using serving = await serve(http, {}, (_, response) => {
      begun.open([respond(file, response), response]);
    });
    const socket = connect(serving.port);
    socket.write(get);
    const [stream, response] = await begun.opened;
    const [first] = (await once(socket, 'data')) as [Buffer];
    socket.pause();
    // The kernel takes no more.
    for (let before = -1; before !== stream.bytesRead;) {
      before = stream.bytesRead;
      await moment(30);
    }
    const noted = await act(stream, response, file);
    const parts = [first];
    socket.on('data', (part: Buffer) => parts.push(part));
    socket.on('error', () => {});
    socket.resume();
    await untilOver(socket);
    const all = Buffer.concat(parts);
    const received = all.subarray(all.indexOf('\r\n\r\n') + 4);
    return { received, content, stream, response, noted };
  });
}

function isStartOf(part: Buffer, whole: Buffer): boolean {
  return part.length <= whole.length && part.equals(whole.subarray(0, part.length));
}

/** With its length, as servers of files send it. */
function sent(file: string, response: ServerResponse, options: object = {}): ReadStream {
  response.setHeader('Content-Length', fs.statSync(file).size);
  const stream = fs.createReadStream(file, options);
  stream.pipe(response);
  return stream;
}

const sizes = [0, 1, 64 * KIB - 1, 64 * KIB, 64 * KIB + 1, 3 * MIB + 7];

const framings: Record<string, { bytes: string; hasLength: boolean }> = {
  'with a length': { bytes: get, hasLength: true },
  'in chunks': { bytes: get, hasLength: false },
  'to HTTP/1.0': { bytes: request('/', '', '1.0'), hasLength: false },
  'in response to HEAD': { bytes: get.replace('GET', 'HEAD'), hasLength: true },
};

const plain: Behaviours = Object.fromEntries(
  Object.entries(framings).map(([name, { bytes, hasLength }]) => [
    `files ${name}`,
    async (http: HttpModule) => {
      const results: unknown[] = [];
      for (const size of sizes) {
        const respond: Serve = (file, response) => {
          if (hasLength) response.setHeader('Content-Length', size);
          fs.createReadStream(file).pipe(response);
        };
        results.push(await taken(http, size, respond, { bytes }));
      }
      return results;
    },
  ]),
);

export const files: Behaviours = {
  ...plain,
  'parts of files': async (http) => {
    const results: unknown[] = [];
    for (const range of [
      { start: 5 },
      { start: 100_000, end: 2_000_000 },
      { end: 1_500_000 },
      { start: 2 * MIB, end: 9 * MIB },
      { start: 9 * MIB },
      { start: 70_000, highWaterMark: 10_000 },
    ]) {
      results.push(
        await taken(http, 3 * MIB, (file, response) => {
          fs.createReadStream(file, range).pipe(response);
        }),
      );
    }
    return results;
  },
  'a descriptor of the caller, from where it stands': (http) =>
    taken(http, 3 * MIB, async (file, response) => {
      const fd = fs.openSync(file, 'r');
      fs.readSync(fd, Buffer.alloc(1000), 0, 1000, null);
      const stream = fs.createReadStream('', { fd, autoClose: false });
      stream.pipe(response);
      await once(response, 'finish');
      // At its end, and open.
      const read = fs.readSync(fd, Buffer.alloc(10), 0, 10, null);
      fs.closeSync(fd);
      return [read, stream.bytesRead, stream.destroyed];
    }),
  'a descriptor of the caller, with a start': (http) =>
    taken(http, 3 * MIB, async (file, response) => {
      const fd = fs.openSync(file, 'r');
      const stream = fs.createReadStream('', { fd, start: 10, autoClose: false });
      stream.pipe(response);
      await once(response, 'finish');
      const read = fs.readSync(fd, Buffer.alloc(10), 0, 10, null);
      fs.closeSync(fd);
      return [read, stream.bytesRead];
    }),
  'a file handle': (http) =>
    taken(http, 3 * MIB, async (file, response) => {
      const handle = await fs.promises.open(file);
      handle.createReadStream().pipe(response);
    }),
  'what a stream and a response emit': (http) =>
    taken(http, 3 * MIB, async (file, response) => {
      const log: string[] = [];
      const stream = fs.createReadStream(file);
      trace(stream, 'stream', ['open', 'ready', 'end', 'error'], log);
      trace(response, 'response', ['pipe', 'unpipe', 'prefinish', 'finish', 'error'], log);
      // The file is closed on a thread: which of the two comes first is not settled.
      const closed = Promise.all([once(stream, 'close'), once(response, 'close')]);
      stream.pipe(response);
      const during = ['pipe', 'unpipe', 'drain', 'finish', 'close', 'error'].map((name) =>
        response.listenerCount(name),
      );
      const names = Object.keys(stream);
      await closed;
      return {
        log,
        during,
        names,
        counts: [stream.listenerCount('data'), stream.listenerCount('end')],
        ends: [stream.bytesRead, stream.destroyed, stream.closed, stream.readableEnded],
        isOwn: Object.getPrototypeOf(stream) === fs.ReadStream.prototype,
      };
    }),
  'what a pipeline says': (http) =>
    taken(http, 3 * MIB, async (file, response) => {
      const stream = fs.createReadStream(file);
      await pipe(stream, response);
      return [stream.bytesRead, stream.closed, response.writableFinished];
    }),
  'a pipeline with a callback': (http) =>
    taken(http, 3 * MIB, async (file, response) => {
      const done = gate<unknown>();
      pipeline(fs.createReadStream(file), response, (error) => done.open(error ?? null));
      return await done.opened;
    }),
  'a transform in between': (http) =>
    taken(http, 3 * MIB, (file, response) => {
      fs.createReadStream(file).pipe(new PassThrough()).pipe(response);
    }),
  'a listener for data, before and after pipe': (http) =>
    taken(http, 3 * MIB, async (file, response) => {
      const counts = [0, 0];
      const stream = fs.createReadStream(file);
      stream.on('data', (chunk) => (counts[0]! += chunk.length));
      stream.pipe(response);
      stream.on('data', (chunk) => (counts[1]! += chunk.length));
      await once(response, 'finish');
      return counts;
    }),
  'an encoding': (http) =>
    taken(http, 3 * MIB, (file, response) => {
      fs.createReadStream(file).setEncoding('latin1').pipe(response);
    }),
  'two readers of one stream': (http) =>
    taken(http, 3 * MIB, async (file, response) => {
      let length = 0;
      const stream = fs.createReadStream(file);
      stream.pipe(response);
      const other = new Writable({
        write(chunk: Buffer, _, callback) {
          length += chunk.length;
          callback();
        },
      });
      stream.pipe(other);
      await once(other, 'finish');
      return length;
    }),
  'slow readers': async (http) => [
    await taken(http, 3 * MIB, (file, response) => void sent(file, response), {
      manner: { every: 300_000, ms: 5 },
    }),
    await taken(http, 3 * MIB, (file, response) => void fs.createReadStream(file).pipe(response), {
      manner: { every: 300_000, ms: 5 },
    }),
  ],
  'writes around a file': (http) =>
    taken(http, 3 * MIB, async (file, response) => {
      response.write('before');
      const stream = fs.createReadStream(file);
      stream.pipe(response, { end: false });
      await once(stream, 'end');
      response.end('behind');
    }),
  'a corked response': (http) =>
    taken(http, 3 * MIB, (file, response) => {
      response.cork();
      fs.createReadStream(file).pipe(response);
      setImmediate(() => response.uncork());
    }),
  'trailers behind a file': (http) =>
    taken(http, 3 * MIB, (file, response) => {
      response.setHeader('Trailer', 'X-Sum');
      response.addTrailers({ 'X-Sum': '1' });
      fs.createReadStream(file).pipe(response);
    }),
  'several files on one connection': async (http) =>
    await withFile(2 * MIB, async (file, content) => {
      const order: string[] = [];
      await using serving = await serve(http, {}, (asked, response) => {
        response.on('finish', () => order.push(asked.url!));
        if (asked.url === '/small') response.end('small');
        else sent(file, response);
      });
      const kept = 'Connection: keep-alive\r\n';
      const all =
        request('/1', kept) + request('/small', kept) + request('/2', kept) + request('/3');
      const { length, digest } = await take(serving.port, all, { every: 500_000, ms: 3 });
      return { order, isLonger: length > 3 * content.length, digest: length === 0 ? digest : '' };
    }),
  'a response class of the server': async (http) => {
    const { ServerResponse: Node } = await import('node:http');
    return await taken(http, 3 * MIB, (file, response) => void sent(file, response), {
      options: { ServerResponse: class extends Node {} as never },
    });
  },
  'write replaced on a response': (http) =>
    taken(http, 3 * MIB, async (file, response) => {
      let length = 0;
      const write = response.write as (...given: unknown[]) => boolean;
      response.write = (...given: unknown[]) => {
        length += (given[0] as Buffer).length;
        return write.apply(response, given);
      };
      sent(file, response);
      await once(response, 'finish');
      return length;
    }),
  'methods of a stream replaced': async (http) => {
    const results: unknown[] = [];
    for (const name of ['push', '_read', 'read', 'emit'] as const) {
      results.push(
        await taken(http, 3 * MIB, async (file, response) => {
          let calls = 0;
          const stream = fs.createReadStream(file);
          const own = stream[name] as (...given: unknown[]) => never;
          stream[name] = ((...given: unknown[]) => {
            calls += 1;
            return own.apply(stream, given);
          }) as never;
          response.setHeader('Content-Length', fs.statSync(file).size);
          stream.pipe(response);
          await once(response, 'finish');
          return [name, calls > 40];
        }),
      );
    }
    return results;
  },
  'a file system of the caller': (http) =>
    taken(http, 3 * MIB, async (file, response) => {
      let reads = 0;
      const own = {
        open: fs.open,
        close: fs.close,
        read(...given: Parameters<typeof fs.read>) {
          reads += 1;
          fs.read(...given);
        },
      };
      sent(file, response, { fs: own });
      await once(response, 'finish');
      return reads > 40;
    }),
  'a subclass of ReadStream': (http) =>
    taken(http, 3 * MIB, async (file, response) => {
      let reads = 0;
      class Counted extends (fs.ReadStream as never as new (path: string) => ReadStream) {
        override _read(size: number): void {
          reads += 1;
          super._read(size);
        }
      }
      response.setHeader('Content-Length', 3 * MIB);
      new Counted(file).pipe(response);
      await once(response, 'finish');
      return reads > 40;
    }),
  'fs.read replaced on the way': async (http) => {
    const own = fs.read;
    let reads = 0;
    const { received, content } = await interrupted(http, 24 * MIB, sent, () => {
      fs.read = ((...given: Parameters<typeof own>) => {
        reads += 1;
        own(...given);
      }) as never;
    }).finally(() => (fs.read = own));
    return [received.equals(content), reads > 40];
  },
  'a file that is missing, and a folder': (http) =>
    withFile(1, async (file) => {
      await using serving = await serve(http, {}, (asked, response) => {
        const path = asked.url === '/missing' ? `${file}-missing` : join(file, '..');
        const stream = fs.createReadStream(path);
        stream.on('error', ({ code }: NodeJS.ErrnoException) => {
          response.statusCode = 404;
          response.end(String(code));
        });
        stream.pipe(response);
      });
      return [await serving.talk(request('/missing')), await serving.talk(request('/folder'))];
    }),
  'a FIFO': (http) =>
    withFile(1, async (file) => {
      const fifo = `${file}-fifo`;
      execFileSync('mkfifo', [fifo]);
      await using serving = await serve(http, {}, (_, response) => {
        fs.createReadStream(fifo).pipe(response);
      });
      const writing = fs.promises.writeFile(fifo, bytesOf(MIB));
      const { head, length, digest } = await take(serving.port, get);
      await writing;
      return { head, length, digest };
    }),
  'a file of /proc': async (http) => {
    await using serving = await serve(http, {}, (_, response) => {
      fs.createReadStream('/proc/cpuinfo').pipe(response);
    });
    const { length } = await take(serving.port, get);
    return length > 0;
  },
  'pause and resume': async (http) => {
    const { received, content, noted } = await interrupted(http, 24 * MIB, sent, async (stream) => {
      stream.pause();
      await moment(50);
      const isPaused = stream.isPaused();
      stream.resume();
      return isPaused;
    });
    return [received.equals(content), noted];
  },
  'unpipe, and the rest to another': async (http) => {
    const rest: Buffer[] = [];
    const { received, content } = await interrupted(
      http,
      24 * MIB,
      sent,
      async (stream, response) => {
        stream.unpipe(response);
        stream.on('data', (chunk) => rest.push(chunk as Buffer));
        stream.resume();
        await once(stream, 'end');
        response.destroy();
      },
    );
    const got = Buffer.concat([received, ...rest]);
    // The bytes on their way to the client are lost with its connection.
    return [
      isStartOf(received, content),
      got.length <= content.length,
      content.subarray(-1000).equals(got.subarray(-1000)),
    ];
  },
  'unpipe, and an end': async (http) => {
    const { received, content } = await interrupted(
      http,
      24 * MIB,
      (file, response) => {
        response.shouldKeepAlive = false;
        response.useChunkedEncodingByDefault = false;
        const stream = fs.createReadStream(file);
        stream.pipe(response);
        return stream;
      },
      (stream, response) => {
        stream.unpipe(response);
        response.end('the end');
        stream.destroy();
      },
    );
    const end = received.length - 'the end'.length;
    return [
      received.toString('latin1', end),
      isStartOf(received.subarray(0, end), content),
      end < content.length,
    ];
  },
  'a stream that is destroyed on the way': async (http) => {
    const { received, content, stream } = await interrupted(
      http,
      24 * MIB,
      sent,
      async (file, response) => {
        file.destroy();
        await once(file, 'close');
        response.destroy();
      },
    );
    return [isStartOf(received, content), received.length < content.length, stream.closed];
  },
  'a response that is destroyed on the way': async (http) => {
    const { received, content, stream } = await interrupted(
      http,
      24 * MIB,
      sent,
      async (file, response) => {
        response.destroy();
        await once(response, 'close');
        await moment(50);
        return [file.destroyed, file.isPaused(), file.listenerCount('data')];
      },
    );
    const result = [isStartOf(received, content), stream.destroyed];
    stream.destroy();
    return result;
  },
  'an end before the stream has ended': async (http) => {
    const { received, content } = await interrupted(
      http,
      24 * MIB,
      (file, response) => {
        response.useChunkedEncodingByDefault = false;
        const stream = fs.createReadStream(file);
        stream.pipe(response);
        stream.on('error', () => {});
        response.on('error', () => {});
        return stream;
      },
      (_, response) => {
        response.end('the end');
      },
    );
    const end = received.length - 'the end'.length;
    return [received.toString('latin1', end), isStartOf(received.subarray(0, end), content)];
  },
  'a descriptor closed on the way': async (http) => {
    let error: unknown;
    const { received, content } = await interrupted(
      http,
      24 * MIB,
      (file, response) => {
        const stream = sent(file, response, {
          fd: fs.openSync(file, 'r'),
          start: 0,
          autoClose: false,
        });
        stream.on('error', ({ code }: NodeJS.ErrnoException) => {
          error = code;
          response.destroy();
        });
        return stream;
      },
      (stream) => {
        fs.closeSync((stream as ReadStream & { fd: number }).fd);
      },
    );
    return [error, isStartOf(received, content), received.length < content.length];
  },
  'a file that is cut short on the way': async (http) => {
    const { received, content } = await interrupted(
      http,
      24 * MIB,
      (file, response) => {
        const stream = fs.createReadStream(file);
        response.useChunkedEncodingByDefault = false;
        stream.pipe(response);
        return stream;
      },
      (_stream, _response, file) => {
        fs.truncateSync(file, 20 * MIB);
      },
    );
    return [isStartOf(received, content), received.length];
  },
  'a file that grows on the way': async (http) => {
    const more = bytesOf(MIB);
    const { received, content } = await interrupted(
      http,
      24 * MIB,
      (file, response) => {
        response.useChunkedEncodingByDefault = false;
        const stream = fs.createReadStream(file);
        stream.pipe(response);
        return stream;
      },
      (_stream, _response, file) => {
        fs.appendFileSync(file, more);
      },
    );
    return received.equals(Buffer.concat([content, more]));
  },
  'a file that is replaced on the way': async (http) => {
    const { received, content } = await interrupted(
      http,
      24 * MIB,
      sent,
      (_stream, _response, file) => {
        fs.writeFileSync(`${file}-new`, 'new');
        fs.renameSync(`${file}-new`, file);
      },
    );
    return received.equals(content);
  },
  'a client that leaves a pipeline': async (http) =>
    await withFile(24 * MIB, async (file) => {
      const over = gate<unknown>();
      await using serving = await serve(http, {}, (_, response) => {
        const stream = fs.createReadStream(file);
        pipeline(stream, response, (error) => over.open([error?.code, stream.destroyed]));
      });
      const socket = connect(serving.port);
      socket.write(get);
      await once(socket, 'data');
      socket.resetAndDestroy();
      const result = await over.opened;
      await serving.nobody();
      return result;
    }),
  'a server that is closed on the way': async (http) => {
    let closed = false;
    const { received, content } = await interrupted(http, 24 * MIB, sent, (_, response) => {
      const { server } = response.socket as never as { server: import('node:http').Server };
      server.close(() => (closed = true));
      server.closeIdleConnections();
    });
    await moment();
    return [received.equals(content), closed];
  },
  'all connections closed on the way': async (http) => {
    const { received, content, stream } = await interrupted(
      http,
      24 * MIB,
      sent,
      (file, response) => {
        const { server } = response.socket as never as { server: import('node:http').Server };
        file.on('error', () => {});
        server.closeAllConnections();
      },
    );
    const result = [isStartOf(received, content), received.length < content.length];
    stream.destroy();
    return result;
  },
  'a client that never reads': async (http) =>
    await withFile(24 * MIB, async (file) => {
      const over = gate<unknown>();
      await using serving = await serve(http, {}, (_, response) => {
        response.setTimeout(200);
        response.on('timeout', () => response.destroy());
        const stream = sent(file, response);
        response.on('close', () => over.open([response.writableFinished, stream.destroyed]));
      });
      const socket = connect(serving.port);
      socket.on('error', () => {});
      socket.write(get);
      socket.pause();
      const result = await over.opened;
      socket.destroy();
      return result;
    }),
  'asynchronous contexts': (http) =>
    taken(http, 3 * MIB, async (file, response) => {
      const storage = new AsyncLocalStorage<string>();
      const seen: unknown[] = [];
      await storage.run('created', async () => {
        const stream = fs.createReadStream(file);
        for (const name of ['open', 'end', 'close']) {
          stream.on(name, () => seen.push([name, storage.getStore()]));
        }
        storage.run('piped', () => stream.pipe(response));
        await once(stream, 'close');
      });
      return seen;
    }),
};
