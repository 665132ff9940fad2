import { gate, serve, type Behaviours } from './engine.ts';

const get = (url: string, more = '') => `GET ${url} HTTP/1.1\r\nHost: a\r\n${more}\r\n`;

/** What messages and sockets say of themselves when a response is over, or waits for its turn. */
export const atFinish: Behaviours = {
  'the socket has ended at "finish" of a response that closes': async (http) => {
    const log: unknown[] = [];
    await using serving = await serve(http, {}, (request, response) => {
      const { socket } = request;
      response.on('finish', () => log.push(request.url, socket.writableEnded));
      response.end('over');
    });
    const { end } = await serving.talk(get('/1'), /over/, get('/2', 'Connection: close\r\n'));
    return [end, log];
  },
  'the high-water mark of responses, also of one that waits': async (http) => {
    const marks: unknown[] = [];
    const both = gate();
    await using serving = await serve(http, { highWaterMark: 40_000 }, (request, response) => {
      marks.push([request.readableHighWaterMark, response.writableHighWaterMark]);
      if (request.url === '/2') both.open();
      void both.opened.then(() => response.end('over'));
    });
    const { end } = await serving.talk(get('/1') + get('/2', 'Connection: close\r\n'));
    return [end, marks];
  },
};
