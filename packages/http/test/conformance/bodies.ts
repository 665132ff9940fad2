import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { ask, gate, serve, textOf, type Behaviours, type Listener } from './engine.ts';
import { connect, leave, Line } from './wire.ts';

/** Answers with what it was sent. */
const echo: Listener = async (request, response) => {
  const text = await textOf(request);
  response.end(JSON.stringify({ text, complete: request.complete, trailers: request.trailers }));
};
const post = (...lines: string[]) =>
  ['POST / HTTP/1.1', 'Host: a', 'Connection: close', ...lines, '', ''].join('\r\n');
const chunked = post('Transfer-Encoding: chunked');
const mebibyte = 2 ** 20;

export const bodies: Behaviours = {
  'a body of known length': (http) => ask(http, echo, [post('Content-Length: 4'), 'body']),
  'a body of known length, with its head in one segment': (http) =>
    ask(http, echo, [`${post('Content-Length: 4')}body`]),
  'a body of length 0': (http) => ask(http, echo, [post('Content-Length: 0')]),
  'a POST without length or encoding': (http) => ask(http, echo, [post()]),
  'a GET with a body': (http) =>
    ask(http, echo, [
      'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 2\r\n\r\nab',
    ]),
  'bytes that are no text': async (http) => {
    const all = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
    return ask(
      http,
      async (request, response) => {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk as Buffer);
        response.end(Buffer.concat(chunks).toString('hex'));
      },
      [post('Content-Length: 256'), all],
    );
  },
  'setEncoding cuts no character': (http) =>
    ask(
      http,
      (request, response) => {
        request.setEncoding('utf8');
        let text = '';
        request.on('data', (chunk: string) => (text += chunk));
        request.on('end', () => response.end(JSON.stringify(text)));
      },
      [post('Content-Length: 6'), 'a\xe2', () => pause(), '\x82\xacb', () => pause(), 'c'],
    ),
  'a chunked body': (http) => ask(http, echo, [`${chunked}3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n`]),
  'a chunked body that is empty': (http) => ask(http, echo, [`${chunked}0\r\n\r\n`]),
  'a chunked body with upper and lower case sizes': (http) =>
    ask(http, echo, [`${chunked}A\r\n0123456789\r\nb\r\n0123456789a\r\n000\r\n\r\n`]),
  'a chunked body with extensions': (http) =>
    ask(http, echo, [`${chunked}3;a=b;c="d"\r\nabc\r\n0;last\r\n\r\n`]),
  'trailers of a request': (http) =>
    ask(
      http,
      async (request, response) => {
        await textOf(request);
        const { trailers, rawTrailers, trailersDistinct } = request;
        response.end(JSON.stringify({ trailers, rawTrailers, trailersDistinct }));
      },
      [
        `${post('Transfer-Encoding: chunked', 'Trailer: X-A')}1\r\na\r\n0\r\nX-A: 1\r\nx-a: 2\r\nX-B:  3 \r\n\r\n`,
      ],
    ),
  'trailers are there with "end", not before': (http) =>
    ask(
      http,
      (request, response) => {
        const before = { ...request.trailers };
        request.resume();
        request.on('end', () => response.end(JSON.stringify([before, request.trailers])));
      },
      [chunked, () => pause(), '0\r\nX-A: 1\r\n\r\n'],
    ),
  'a large body of known length': (http) =>
    ask(http, count, [post(`Content-Length: ${4 * mebibyte}`), Buffer.alloc(4 * mebibyte, 'x')]),
  'a large chunked body': async (http) => {
    const chunk = `${(65_536).toString(16)}\r\n${'y'.repeat(65_536)}\r\n`;
    return ask(http, count, [chunked, chunk.repeat(40), '0\r\n\r\n']);
  },
  'chunks of one byte': (http) =>
    ask(http, echo, [`${chunked}${'1\r\nz\r\n'.repeat(3_000)}0\r\n\r\n`]),
  'a reader that pauses stops the sender': async (http) => {
    const arrived = gate<IncomingMessage>();
    await using serving = await serve(http, {}, (request, response) => {
      request.once('data', () => {
        request.pause();
        arrived.open(request);
      });
      let size = 0;
      request.on('data', (chunk: Buffer) => (size += chunk.length));
      request.on('end', () => response.end(String(size)));
    });
    const line = new Line(connect(serving.port));
    // More than the kernel holds for both ends, and more than a stream buffers.
    const total = 64 * mebibyte;
    line.socket.write(post(`Content-Length: ${total}`));
    line.socket.write(Buffer.alloc(total));
    const request = await arrived.opened;
    await untilStill(() => line.socket.writableLength + request.readableLength);
    const held = line.socket.writableLength > total / 4;
    const few = request.readableLength < mebibyte;
    await once(request.resume(), 'end');
    await line.untilClosed();
    line.socket.destroy();
    return { held, few, received: line.received };
  },
  'a reader that pauses stops the sender of chunks': async (http) => {
    const arrived = gate<IncomingMessage>();
    await using serving = await serve(http, {}, (request, response) => {
      request.once('data', () => {
        request.pause();
        arrived.open(request);
      });
      let size = 0;
      request.on('data', (chunk: Buffer) => (size += chunk.length));
      request.on('end', () => response.end(String(size)));
    });
    const line = new Line(connect(serving.port));
    const chunk = Buffer.concat([
      Buffer.from('100000\r\n'),
      Buffer.alloc(mebibyte),
      Buffer.from('\r\n'),
    ]);
    line.socket.write(chunked);
    for (let i = 0; i < 64; i++) line.socket.write(chunk);
    line.socket.write('0\r\n\r\n');
    const request = await arrived.opened;
    await untilStill(() => line.socket.writableLength + request.readableLength);
    const held = line.socket.writableLength > 16 * mebibyte;
    const few = request.readableLength < mebibyte;
    await once(request.resume(), 'end');
    await line.untilClosed();
    line.socket.destroy();
    return { held, few, received: line.received };
  },
  'an answer before the body was read': async (http) => {
    const listener: Listener = (_, response) => response.end('early');
    return [
      await ask(http, listener, [post('Content-Length: 10'), /early/, '0123456789', leave]),
      await ask(http, listener, [
        'POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n01234',
        /early/,
        '56789GET /2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
      ]),
    ];
  },
  'an answer while the body still comes': async (http) => {
    await using serving = await serve(http, {}, (request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/plain' });
      request.on('data', (chunk: Buffer) => response.write(`<${chunk.toString()}>`));
      request.on('end', () => response.end('done'));
    });
    return await serving.talk(
      post('Transfer-Encoding: chunked'),
      '1\r\na\r\n',
      /<a>/,
      '1\r\nb\r\n',
      /<b>/,
      '0\r\n\r\n',
    );
  },
  'a large answer, to a client that reads slowly': async (http) => {
    const total = 32 * mebibyte;
    const log: unknown[] = [];
    await using serving = await serve(http, {}, (_, response) => {
      response.writeHead(200, { 'Content-Length': total });
      const block = Buffer.alloc(mebibyte, 'z');
      let sent = 0;
      const more = () => {
        while (sent < total) {
          sent += block.length;
          if (!response.write(block) && sent < total) {
            if (log.length === 0) log.push(['first false', response.writableNeedDrain]);
            response.once('drain', more);
            return;
          }
        }
        response.end();
      };
      more();
    });
    const socket = connect(serving.port);
    socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    let size = 0;
    let chunks = 0;
    for await (const chunk of socket) {
      size += (chunk as Buffer).length;
      if (++chunks % 50 === 0) await pause();
    }
    return { log, body: size > total && size < total + 500 };
  },
  'write says false for as long as nobody reads': async (http) => {
    const stopped = gate<number>();
    await using serving = await serve(http, {}, async (_, response) => {
      const block = Buffer.alloc(mebibyte);
      let blocks = 0;
      while (response.write(block) || (await drained(response))) blocks++;
      stopped.open(blocks);
      response.destroy();
    });
    const socket = connect(serving.port);
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    socket.pause();
    const blocks = await stopped.opened;
    socket.destroy();
    return blocks < 64;
  },
  'the length of the body is known to a stream only at its end': (http) =>
    ask(
      http,
      async (request, response) => {
        const sizes: number[] = [];
        for await (const chunk of request) sizes.push((chunk as Buffer).length);
        response.end(String(sizes.reduce((a, b) => a + b, 0)));
      },
      [
        post('Content-Length: 30'),
        ...Array.from({ length: 10 }, () => [() => pause(), 'abc']).flat(),
      ],
    ),
  'data, end and close of a request, in order': async (http) => {
    const log: string[] = [];
    const closed = gate();
    await using serving = await serve(http, {}, (request, response) => {
      for (const name of ['data', 'end', 'close', 'aborted', 'error']) {
        request.on(name, () => log.push(`request ${name}`));
      }
      for (const name of ['finish', 'close', 'error']) {
        response.on(name, () => log.push(`response ${name}`));
      }
      request.on('end', () => response.end('x'));
      response.on('close', closed.open);
    });
    await serving.talk(
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\na',
      /x$/,
      () => closed.opened,
      leave,
    );
    return log;
  },
  'a body that nobody listens to': async (http) => {
    const log: string[] = [];
    const closed = gate();
    await using serving = await serve(http, {}, (request, response) => {
      for (const name of ['end', 'close', 'resume', 'pause']) {
        request.on(name, () => log.push(`request ${name}`));
      }
      request.on('close', closed.open);
      response.end('x');
    });
    await serving.talk(
      `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n${'q'.repeat(200_000)}`,
      /x$/,
      () => closed.opened,
      leave,
    );
    return log.filter((event) => event !== 'request resume');
  },
};

const count: Listener = async (request, response) => {
  let size = 0;
  for await (const chunk of request) size += (chunk as Buffer).length;
  response.end(String(size));
};

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5));
}

/** @returns false when the reader stays away */
async function drained(response: NodeJS.EventEmitter): Promise<boolean> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), 150);
  try {
    await once(response, 'drain', { signal: late.signal });
    return true;
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}

/** Waits until a figure has not moved for a while. */
async function untilStill(figure: () => number): Promise<void> {
  let before = -1;
  for (let still = 0; still < 5;) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    const now = figure();
    still = now === before ? still + 1 : 0;
    before = now;
  }
}
