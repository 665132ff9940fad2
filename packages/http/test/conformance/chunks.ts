import type { IncomingMessage } from 'node:http';
import { Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { ask, gate, type Behaviours, type HttpModule, type Listener } from './engine.ts';

const post =
  'POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n';
const lines = ['{"a":1}', '{"b":22}', '{"c":333}'];
const many = Array.from({ length: 300 }, (_, index) => `line ${index}`);

function framed(chunks: readonly string[], end = '0\r\n\r\n'): string {
  return chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('') + end;
}

/** What a reader of the body notes down, when it comes in these pieces. */
function noted(
  http: HttpModule,
  read: (request: IncomingMessage, log: unknown[]) => unknown,
  pieces: (string | (() => unknown))[] = [post + framed(lines)],
): unknown {
  const listener: Listener = (request, response) => {
    const log: unknown[] = [];
    request.on('end', () => {
      log.push('end');
      response.end(JSON.stringify(log));
    });
    void read(request, log);
  };
  return ask(http, listener, pieces);
}

function eachChunk(request: IncomingMessage, log: unknown[]): void {
  request.on('data', (chunk) => log.push(String(chunk)));
}

/** Chunks that arrive together, and readers that can tell. */
export const chunks: Behaviours = {
  'each chunk is an event of its own': (http) => noted(http, eachChunk),
  'behind the head': (http) => noted(http, eachChunk, [post, () => turn(), framed(lines)]),
  'many of them': (http) => noted(http, eachChunk, [post + framed(many)]),
  'a chunk in two pieces, with others around it': (http) => {
    // The rest is sent when the first half is read: on a busy machine both would otherwise arrive together.
    const half = gate();
    return noted(
      http,
      (request, log) => {
        eachChunk(request, log);
        request.on('data', (chunk) => String(chunk) === 'cd' && half.open());
      },
      [`${post}2\r\nab\r\n4\r\ncd`, () => half.opened, 'ef\r\n1\r\ng\r\n0\r\n\r\n'],
    );
  },
  'the line of a chunk in two pieces': (http) =>
    noted(http, eachChunk, [`${post}2\r\nab\r\n0`, () => pause(), '2\r\ncd\r\n0\r\n\r\n']),
  'ticks and promises run between them': (http) =>
    noted(http, (request, log) => {
      request.on('data', (chunk) => {
        log.push(String(chunk));
        process.nextTick(() => log.push('tick'));
        void Promise.resolve().then(() => log.push('promise'));
        setImmediate(() => log.push('immediate'));
      });
      request.on('end', () => log.push('before the end'));
    }),
  'with trailers': (http) =>
    noted(
      http,
      (request, log) => {
        eachChunk(request, log);
        request.on('data', () => log.push(Object.keys(request.trailers).length));
      },
      [post + framed(lines, '0\r\nX-A: 1\r\n\r\n')],
    ),
  'a listener that comes later': (http) =>
    noted(http, async (request, log) => {
      await turn();
      eachChunk(request, log);
    }),
  'a reader that pauses at each': (http) =>
    noted(http, (request, log) => {
      request.on('data', (chunk) => {
        log.push(String(chunk));
        request.pause();
        setImmediate(() => request.resume());
      });
    }),
  'read() takes them together': (http) =>
    noted(http, (request, log) => {
      request.on('readable', () => {
        for (let chunk = request.read(); chunk !== null; chunk = request.read()) {
          log.push(String(chunk));
        }
      });
    }),
  'for await': (http) =>
    noted(http, async (request, log) => {
      for await (const chunk of request) log.push(String(chunk));
    }),
  'for await, later': (http) =>
    noted(http, async (request, log) => {
      await turn();
      for await (const chunk of request) log.push(String(chunk));
    }),
  'with an encoding': (http) =>
    noted(http, (request, log) => {
      request.setEncoding('utf8');
      eachChunk(request, log);
    }),
  'into a stream': (http) =>
    ask(
      http,
      (request, response) => {
        const log: string[] = [];
        const to = new Writable({
          write(chunk, _, callback) {
            log.push(String(chunk));
            setImmediate(callback);
          },
        });
        request.pipe(to).on('finish', () => response.end(JSON.stringify(log)));
      },
      [post + framed(lines)],
    ),
  'a reader that destroys the request at the second': (http) =>
    ask(
      http,
      (request, response) => {
        const log: string[] = [];
        request.on('data', (chunk) => {
          log.push(String(chunk));
          if (log.length === 2) response.end(JSON.stringify(log));
        });
      },
      [post + framed(many)],
    ),
  'a bad chunk behind good ones': (http) =>
    ask(
      http,
      (request, response) => {
        const log: string[] = [];
        eachChunk(request, log);
        request.on('error', () => {});
        request.on('close', () => response.end());
        request.on('aborted', () => log.push('aborted'));
      },
      [`${post}${framed(lines, '')}zz\r\n`],
    ),
};

/** Longer than packets are joined for. */
async function pause(): Promise<void> {
  for (let turns = 0; turns < 20; turns += 1) await turn();
}
