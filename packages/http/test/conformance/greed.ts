import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { gate, moment, serve, type Behaviours, type Listener, type Options } from './engine.ts';
import { connect, Line } from './wire.ts';

// Clients that give or take more than their share, or at their leisure.

const MEBIBYTE = 1024 * 1024;
const get = (url: string) => `GET ${url} HTTP/1.1\r\nHost: a\r\n\r\n`;
const hello: Listener = (_, response) => {
  response.end('hello');
};

export const greed: Behaviours = {
  'a large answer may be taken slowly': async (http) => {
    const options = { keepAliveTimeout: 20, keepAliveTimeoutBuffer: 0 } as Options;
    await using serving = await serve(http, options, (_, response) => {
      response.end(Buffer.alloc(16 * MEBIBYTE, 'x'));
    });
    const socket = connect(serving.port);
    socket.pause();
    socket.write(get('/'));
    // Many times what an idle connection is given.
    await moment(300);
    let length = 0;
    socket.on('data', (chunk: Buffer) => (length += chunk.length)).resume();
    await once(socket, 'end');
    socket.destroy();
    return length > 16 * MEBIBYTE;
  },
  'a head of any length and what is wrong with it disturb nobody else': async (http) => {
    await using serving = await serve(http, {}, hello);
    const socket = connect(serving.port).on('error', () => {});
    const refused = new Promise((resolve) => socket.once('data', resolve));
    socket.write('GET / HTTP/1.1\r\nHost: a\r\nx:');
    socket.write(Buffer.alloc(2 * MEBIBYTE, ' '));
    socket.write('\0');
    // Too long for the one, a bad character for the other.
    const isRefused = /^HTTP\/1\.1 4(00|31) /.test(String(await refused));
    socket.destroy();
    return [
      isRefused,
      await serving.talk('GET / HTTP/1.1\r\nConnection: close\r\nHost: a\r\n\r\n'),
    ];
  },
  'an answer behind another one is not made in advance': async (http) => {
    let pieces = 0;
    const begun = gate();
    let answerFirst: (() => void) | undefined;
    const last = 60;
    await using serving = await serve(http, {}, (request, response) => {
      if (request.url === '/slow') {
        answerFirst = () => response.end('first');
        return;
      }
      const read = function read(this: Readable): void {
        pieces += 1;
        begun.open();
        this.push(pieces > last ? null : Buffer.alloc(64 * 1024, 'x'));
      };
      new Readable({ read }).pipe(response);
    });
    const line = new Line(connect(serving.port));
    line.socket.write(get('/slow') + get('/stream'));
    await begun.opened;
    await moment(100);
    const made = pieces;
    answerFirst!();
    const isWhole = await line.until(/\r\n0\r\n\r\n$/);
    line.socket.destroy();
    return { fewMade: made < 20, isWhole, pieces };
  },
  'writes behind another answer call back in their turn': async (http) => {
    const log: string[] = [];
    let answerFirst: (() => void) | undefined;
    await using serving = await serve(http, {}, (request, response) => {
      response.on('finish', () => log.push(`${request.url} finish`));
      if (request.url === '/1') {
        answerFirst = () => response.end('first');
        return;
      }
      response.on('drain', () => {
        log.push('drain');
        response.end('end');
      });
      const isWelcome = response.write('x'.repeat(100_000), () => log.push('written'));
      log.push(`welcome ${isWelcome}`);
    });
    const line = new Line(connect(serving.port));
    line.socket.write(get('/1') + get('/2'));
    while (log.length === 0) await moment(5);
    await moment(30);
    log.push('now the first');
    answerFirst!();
    const isWhole = await line.until(/end\r\n0\r\n\r\n$/);
    line.socket.destroy();
    return { isWhole, log };
  },
  'while much waits behind a response no more requests are read': async (http) => {
    const asked: string[] = [];
    let answerFirst: (() => void) | undefined;
    await using serving = await serve(http, {}, (request, response) => {
      asked.push(request.url!);
      if (request.url === '/1') answerFirst = () => response.end('first');
      else response.end(Buffer.alloc(MEBIBYTE, 'x'));
    });
    const line = new Line(connect(serving.port));
    line.socket.write(get('/1') + get('/2') + get('/3'));
    while (asked.length < 3) await moment(5);
    for (let more = 4; more < 40; more++) line.socket.write(get(`/${more}`));
    await moment(100);
    const before = asked.length;
    line.socket.end(get('/40'));
    answerFirst!();
    const isWhole = await line.until(/first/);
    // Forty of them, kept as text, are what takes time on a busy machine.
    line.socket.removeAllListeners('data').resume();
    while (asked.length < 40) await moment(5);
    const isClosed = await line.untilClosed();
    return { before, isWhole, last: asked.at(-1), isClosed };
  },
  'a body nobody read does not open the next one': async (http) => {
    const kept: IncomingMessage[] = [];
    await using serving = await serve(http, {}, (request, response) => {
      if (request.url === '/drop') response.end('dropped');
      else kept.push(request);
    });
    const line = new Line(connect(serving.port));
    const post = (url: string) =>
      `POST ${url} HTTP/1.1\r\nHost: a\r\nContent-Length: ${8 * MEBIBYTE}\r\n\r\n`;
    line.socket.write(post('/drop'));
    line.socket.write(Buffer.alloc(8 * MEBIBYTE));
    await line.until(/dropped/);
    line.socket.write(post('/keep'));
    line.socket.write(Buffer.alloc(8 * MEBIBYTE));
    while (kept.length === 0) await moment(5);
    await moment(100);
    const held = kept[0]!.readableLength;
    line.socket.destroy();
    return held < MEBIBYTE;
  },
};
