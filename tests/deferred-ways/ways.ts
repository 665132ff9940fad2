// Ways from a request to the code that answers it: parsers of the body, callbacks, timers, emitters, pools, limiters.
// Many of them leave the request's AsyncLocalStorage, and some enter that of another request.
import { execFile } from 'node:child_process';
import { pbkdf2 } from 'node:crypto';
import { lookup } from 'node:dns';
import { EventEmitter, on, once } from 'node:events';
import { createWriteStream, readFile } from 'node:fs';
import { get, type IncomingMessage, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { finished, PassThrough, pipeline, Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline as pipelined } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { MessageChannel, Worker } from 'node:worker_threads';
import { gzip } from 'node:zlib';
import pLimit3 from 'p-limit-3';

/** Leads to `go`, which defers and answers. */
export type Way = (request: IncomingMessage, response: ServerResponse, go: () => void) => unknown;

type Next = (error?: unknown) => void;
type Parser = (request: IncomingMessage, response: ServerResponse, next: Next) => void;
type Multer = ((options?: object) => { single(name: string): Parser; any(): Parser }) & {
  memoryStorage(): object;
};
type Task = (done: () => void) => void;

const load = createRequire(new URL('../../packages/defer/package.json', import.meta.url));
const { formidable } = (await import('formidable' as string)) as {
  formidable(options: object): {
    parse(request: IncomingMessage, then?: () => void): Promise<unknown>;
  };
};
const busboy = load('busboy') as (options: object) => Writable;
const fileupload = load('express-fileupload') as (options?: object) => Parser;
const multer = (name: string): Multer => load(name) as Multer;

/** How many requests wait for their turn at once is the point: one at a time. */
export interface Shared {
  readonly ways: Readonly<Record<string, Way>>;
  close(): Promise<void>;
}

const afterParser =
  (parser: Parser): Way =>
  (request, response, go) => {
    // Fastify's and Hono's own have no such field, which these parsers fill.
    parser(request, response, (error) => {
      if (error === undefined) go();
      else response.destroy(error as Error);
    });
  };

/** Those of one request alone. */
const own: Record<string, Way> = {
  'at once': (_request, _response, go) => go(),
  "on('data'), on('end')": (request, _response, go) => {
    request.on('data', () => {});
    request.on('end', go);
  },
  "once('data')": (request, _response, go) => void request.once('data', go),
  "on('readable')": (request, _response, go) => {
    let isDone = false;
    request.on('readable', () => {
      while (request.read() !== null);
      if (isDone) return;
      isDone = true;
      go();
    });
  },
  'for await': async (request, _response, go) => {
    for await (const chunk of request) void chunk;
    go();
  },
  'events.on': async (request, _response, go) => {
    for await (const event of on(request, 'data', { close: ['end'] })) void event;
    go();
  },
  'events.once': async (request, _response, go) => {
    request.resume();
    await once(request, 'end');
    go();
  },
  'pipeline with a callback': (request, _response, go) => {
    pipeline(request, new Writable({ write: (_chunk, _encoding, done) => done() }), go);
  },
  'pipeline as a promise': async (request, _response, go) => {
    await pipelined(request, new PassThrough().resume());
    go();
  },
  "pipe, on('finish')": (request, _response, go) => {
    const target = new Writable({ write: (_chunk, _encoding, done) => void setImmediate(done) });
    request.pipe(target).on('finish', go);
  },
  'pipe to a file': (request, _response, go) => {
    request.pipe(createWriteStream('/dev/null')).on('finish', go);
  },
  'a transform': (request, _response, go) => {
    request.pipe(new PassThrough()).resume().on('end', go);
  },
  'stream.finished': (request, _response, go) => {
    request.resume();
    finished(request, { writable: false }, () => go());
  },
  'the consumer of a stream': async (request, _response, go) => {
    await text(request);
    go();
  },
  'a web stream': async (request, _response, go) => {
    const reader = (Readable.toWeb(request) as ReadableStream).getReader();
    while (!(await reader.read()).done);
    go();
  },
  "busboy, on('close')": (request, _response, go) => {
    const parser = busboy({ headers: request.headers });
    parser.on('file', (_name: string, file: Readable) => file.resume());
    request.pipe(parser).on('close', go);
  },
  "busboy, the file's end": (request, _response, go) => {
    const parser = busboy({ headers: request.headers });
    parser.on('file', (_name: string, file: Readable) => file.resume().on('end', go));
    request.pipe(parser);
  },
  'formidable with a callback': (request, _response, go) => {
    formidable({}).parse(request, () => go());
  },
  'formidable as a promise': async (request, _response, go) => {
    await formidable({}).parse(request);
    go();
  },
  'multer 2.5 in memory': afterParser(multer('multer')().single('f')),
  'multer 2.5 to disk': afterParser(multer('multer')({ dest: tmpdir() }).single('f')),
  'multer 2.0 in memory': afterParser(multer('multer-2.0')().single('f')),
  'multer 2.0, any file': afterParser(multer('multer-2.0')().any()),
  'multer 1.4 in memory': afterParser(multer('multer-1')().single('f')),
  'multer 1.4, any file': afterParser(multer('multer-1')().any()),
  'express-fileupload': afterParser(fileupload()),
  'express-fileupload to disk': afterParser(
    fileupload({ useTempFiles: true, tempFileDir: tmpdir() }),
  ),
  setTimeout: (_request, _response, go) => void setTimeout(go, 1),
  setImmediate: (_request, _response, go) => void setImmediate(go),
  nextTick: (_request, _response, go) => process.nextTick(go),
  queueMicrotask: (_request, _response, go) => queueMicrotask(go),
  'a promise': async (_request, _response, go) => {
    await sleep(1);
    go();
  },
  'a file, with a callback': (_request, _response, go) => readFile('/dev/null', () => go()),
  'a lookup': (_request, _response, go) => lookup('localhost', () => go()),
  'the thread pool': (_request, _response, go) => pbkdf2('a', 'b', 1, 8, 'sha1', () => go()),
  zlib: (_request, _response, go) => gzip('a', () => go()),
  'a request to another server': (request, _response, go) => {
    const { localPort: port, localAddress: host } = request.socket;
    get({ port, host, path: '/nowhere' }, (answer) => answer.resume().on('end', go));
  },
  'an abort signal': (_request, _response, go) => {
    const abort = new AbortController();
    abort.signal.addEventListener('abort', go);
    setImmediate(() => abort.abort());
  },
  'a message port': (_request, _response, go) => {
    const { port1, port2 } = new MessageChannel();
    port2.once('message', () => {
      port1.close();
      go();
    });
    port1.postMessage(1);
  },
  'a process of its own': (_request, _response, go) => void execFile('true', () => go()),
};

/** Those that requests share: each is in whichever context it was made in, or is run by. */
export async function openShared(): Promise<Shared> {
  const closes: (() => unknown)[] = [];
  const echo: Server = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
  await once(echo, 'listening');
  const { port } = echo.address() as AddressInfo;
  const sockets: Socket[] = [];
  const driver = (): ((go: () => void) => void) => {
    const waiting: (() => void)[] = [];
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    socket.on('data', (bytes) => {
      for (const byte of bytes) if (byte !== undefined) waiting.shift()?.();
    });
    return (go) => {
      waiting.push(go);
      socket.write('q');
    };
  };
  const query = driver();
  let lazy: ReturnType<typeof driver> | undefined;
  const bus = new EventEmitter();
  const batch: (() => void)[] = [];
  const ticker = setInterval(() => {
    for (const go of batch.splice(0)) go();
  }, 5);
  closes.push(() => clearInterval(ticker));
  const worker = new Worker(
    "const { parentPort } = require('node:worker_threads'); parentPort.on('message', (each) => parentPort.postMessage(each));",
    { eval: true },
  );
  const answers: (() => void)[] = [];
  worker.on('message', () => answers.shift()?.());
  closes.push(() => worker.terminate());

  const waiting: Task[] = [];
  let isBusy = false;
  const next = (): void => {
    const task = waiting.shift();
    isBusy = task !== undefined;
    task?.(next);
  };
  const oneByOne = (task: Task): void => {
    waiting.push(task);
    if (!isBusy) next();
  };
  const queued: (() => void)[] = [];
  let isTaken = false;

  type Limit = <Result>(work: () => Promise<Result>) => Promise<Result>;
  const limited =
    (limit: Limit): Way =>
    (_request, _response, go) =>
      limit(async () => {
        await sleep(3);
        go();
      });
  const { default: Queue6 } = load('p-queue-6') as { default: new (options: object) => QueueLike };
  const { default: Queue8 } = (await import('p-queue-8')) as unknown as {
    default: new (options: object) => QueueLike;
  };
  interface QueueLike {
    add: Limit;
  }
  const queue6 = new Queue6({ concurrency: 1 });
  const queue8 = new Queue8({ concurrency: 1 });
  const Bottleneck = load('bottleneck') as new (options: object) => { schedule: Limit };
  const bottleneck = new Bottleneck({ maxConcurrent: 1 });
  const fastq = load('fastq') as ((
    worker: (task: Task, done: () => void) => void,
    n: number,
  ) => {
    push(task: Task): void;
  }) & {
    promise(worker: (task: () => Promise<void>) => Promise<void>, n: number): { push: Limit };
  };
  const calls = fastq((task, done) => void setTimeout(() => task(done), 3), 1);
  const promises = fastq.promise((task) => task(), 1);
  const async = load('async') as Record<
    'queue' | 'cargo',
    (
      worker: (tasks: never, done: () => void) => void,
      n: number,
    ) => { push(task: () => void): void }
  >;
  const asyncQueue = async.queue((task: () => void, done) => {
    setTimeout(() => {
      task();
      done();
    }, 3);
  }, 1);
  const cargo = async.cargo((tasks: (() => void)[], done) => {
    setTimeout(() => {
      for (const task of tasks) task();
      done();
    }, 3);
  }, 2);
  const { createPool } = load('generic-pool') as {
    createPool(
      factory: object,
      options: object,
    ): { acquire(): Promise<object>; release(one: object): Promise<void> };
  };
  const pool = createPool({ create: async () => ({}), destroy: async () => {} }, { max: 1 });

  const ways: Record<string, Way> = {
    ...own,
    'the callback of a shared connection': (_request, _response, go) => query(go),
    'the callback of a connection that the first request opened': (_request, _response, go) =>
      (lazy ??= driver())(go),
    'the promise of a shared connection': async (_request, _response, go) => {
      await new Promise<void>((resolve) => void query(resolve));
      go();
    },
    'an emitter that all share': (_request, _response, go) => {
      bus.once('go', go);
      setImmediate(() => bus.emit('go'));
    },
    'a batch of a shared timer': (_request, _response, go) => void batch.push(go),
    'a worker that all share': (_request, _response, go) => {
      answers.push(go);
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has none
      worker.postMessage(0);
    },
    'a queue with one worker': (_request, _response, go) =>
      oneByOne((done) => {
        setTimeout(() => {
          go();
          done();
        }, 3);
      }),
    "a semaphore, released on the response's finish": (_request, response, go) => {
      const enter = (): void => {
        isTaken = true;
        response.once('close', () => {
          isTaken = false;
          queued.shift()?.();
        });
        setTimeout(go, 2);
      };
      if (isTaken) queued.push(enter);
      else enter();
    },
    'p-limit 3': limited(pLimit3(1) as Limit),
    'p-queue 6': limited((work) => queue6.add(work)),
    'p-queue 8': limited((work) => queue8.add(work)),
    'Bottleneck 2': limited((work) => bottleneck.schedule(work)),
    fastq: (_request, _response, go) =>
      calls.push((done) => {
        go();
        done();
      }),
    'fastq as promises': limited((work) => promises.push(work as never) as never),
    'async.queue': (_request, _response, go) => asyncQueue.push(go),
    'async.cargo': (_request, _response, go) => cargo.push(go),
    'generic-pool': async (_request, _response, go) => {
      const one = await pool.acquire();
      await sleep(2);
      go();
      await pool.release(one);
    },
  };
  return {
    ways,
    async close() {
      for (const close of closes) await close();
      for (const socket of sockets) socket.destroy();
      echo.close();
    },
  };
}

/**
 * Ways that run several requests in the context of one that has no response yet: nothing tells their work from its own, so
 * the call names the request.
 */
export const unseen: ReadonlySet<string> = new Set(['an emitter that all share', 'async.cargo']);

/** The ways that keep to the context of their request: its outcome decides on their jobs. */
export const ownWays: readonly string[] = Object.keys(own);
