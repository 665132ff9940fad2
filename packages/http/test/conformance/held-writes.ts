import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { gate, moment, serve, type Behaviours, type HttpModule } from './engine.ts';

const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

type Note = (what: string) => (error?: Error | null) => void;
type Handler = (response: ServerResponse, note: Note, socket: Socket) => unknown;

/** What leaves when the writes of a tick, which are held until it is over, meet something else in that tick. */
async function held(http: HttpModule, ...handlers: Handler[]): Promise<unknown> {
  const log: string[] = [];
  const note: Note = (what) => (error) =>
    log.push(`${what} ${(error as NodeJS.ErrnoException)?.code ?? error?.message ?? 'ok'}`);
  const over = gate();
  const left = [...handlers];
  await using serving = await serve(http, {}, ({ socket }, response) => {
    socket.once('close', () => over.open()).on('error', () => {});
    response.on('error', () => {});
    void left.shift()!(response, note, socket);
  });
  const conversation = await serving.talk(get.repeat(handlers.length));
  await over.opened;
  await moment();
  return { conversation, log };
}

export const heldWrites: Behaviours = {
  'an empty write before others, alone and among them': (http) =>
    held(
      http,
      (response, note) => {
        response.write('', note('nothing'));
        response.write('A', note('write'));
        response.write('', note('nothing'));
        response.write(new Uint8Array([66, 67]), note('bytes'));
        response.write('4142', 'hex', note('hex'));
        note(`length ${response.writableLength} corked ${response.writableCorked}`)();
        response.end('D', note('end'));
      },
      (response, note, socket) => {
        response.write('', note('nothing'));
        setTimeout(() => response.end(note('end')), 10);
        setTimeout(() => socket.end(), 30);
      },
    ),
  'halves of a character in two writes of a tick': (http) =>
    held(http, (response, note, socket) => {
      response.write('\ud83d', note('first'));
      response.write('\ude00', note('second'));
      response.end('\u00e9', 'latin1', note('end'));
      setTimeout(() => socket.end(), 20);
    }),
  'a response corks itself behind its writes, and is uncorked in a later tick': (http) =>
    held(http, (response, note, socket) => {
      response.write('A', note('write'));
      response.cork();
      response.write('B', note('write'));
      note(`corked ${response.writableCorked}`)();
      setTimeout(() => {
        note(`corked ${response.writableCorked}`)();
        response.uncork();
        note(`corked ${response.writableCorked}`)();
        response.end('C', note('end'));
        setTimeout(() => socket.end(), 20);
      }, 10);
    }),
  'with a length, a response corks itself behind its writes': (http) =>
    held(http, (response, note, socket) => {
      response.setHeader('Content-Length', 3);
      response.write('A', note('write'));
      response.cork();
      response.write('B', note('write'));
      note(`corked ${response.writableCorked}`)();
      setTimeout(() => {
        note(`corked ${response.writableCorked}`)();
        response.uncork();
        note(`corked ${response.writableCorked}`)();
        response.end('C', note('end'));
        setTimeout(() => socket.end(), 20);
      }, 10);
    }),
  'writes of two responses in one tick': (http) => {
    let first: ServerResponse;
    return held(
      http,
      (response) => void (first = response),
      (response, note, socket) => {
        response.write('c', note('later'));
        response.write('d', note('later'));
        first.write('a', note('first'));
        first.write('b', note('first'));
        first.end(note('first end'));
        response.write('e', note('later'));
        response.write('f', note('later'));
        setTimeout(() => {
          response.write('g', note('later'));
          response.write('h', note('later'));
          response.end(note('later end'));
          setTimeout(() => socket.end(), 20);
        }, 20);
      },
    );
  },
  'callbacks of a response and of its socket come in the order of their writes': (http) =>
    held(http, (response, note, socket) => {
      response.write('A', note('write'));
      socket.write('raw', note('socket'));
      response.write('B', note('write'));
      response.end('C', note('end'));
      setTimeout(() => socket.end(), 20);
    }),
  'a cork of the socket behind an uncork of the response stays': (http) =>
    held(http, (response, note, socket) => {
      response.write('A', note('write'));
      response.uncork();
      socket.cork();
      socket.write('raw', note('socket'));
      setTimeout(() => {
        note(`corked ${socket.writableCorked}`)();
        socket.destroy();
      }, 50);
    }),
  'what is corked behind the end of the last response leaves with the socket': (http) =>
    held(http, (response, note, socket) => {
      response.setHeader('Connection', 'close');
      response.write('A', note('write'));
      socket.write('raw', note('socket'));
      response.end(note('end'));
      socket.cork();
      socket.write('late', note('late'));
    }),
  'an unknown encoding is an error of the write': (http) =>
    held(http, (response, note, socket) => {
      try {
        response.write('é', 'bogus' as never, note('write'));
      } catch (error) {
        note((error as NodeJS.ErrnoException).code!)();
      }
      response.write('later', note('later'));
      response.end(note('end'));
      setTimeout(() => socket.destroy(), 50);
    }),
  'bytes that the socket was given in the tick of a write are lost with it': (http) =>
    held(http, (response, note, socket) => {
      response.write('A', note('write'));
      socket.write('raw', note('socket'));
      response.destroy();
    }),
  'the error that destroys a response reaches the callbacks of what is lost': (http) =>
    held(http, (response, note, socket) => {
      response.write('A', note('write'));
      socket.write('raw', note('socket'));
      response.destroy(new Error('wanted'));
    }),
  'the socket ends behind a write of the same tick': (http) =>
    held(http, (response, note, socket) => {
      response.write('A', note('write'));
      socket.end('raw', note('socket'));
    }),
  'an informational response leaves before the write that is lost': (http) =>
    held(http, (response, note) => {
      response.writeProcessing();
      response.write('A', note('write'));
      response.destroy();
    }),
  'heads that are flushed behind a write let nothing out': (http) =>
    held(http, (response, note) => {
      response.write('A', note('write'));
      response.flushHeaders();
      response.destroy();
    }),
  'a response that is corked in the tick of a write keeps it': (http) =>
    held(http, async (response, note, socket) => {
      response.write('A', note('write'));
      response.cork();
      await moment();
      const { writableLength } = socket;
      note(`${writableLength > 0}`)();
      response.destroy();
    }),
  'what is corked leaves when the client has ended': async (http) => {
    await using serving = await serve(http, {}, (_, response) => {
      response.cork();
      response.write('A');
    });
    return await serving.talk(get, moment, 'FIN');
  },
  'a response that is over has no socket to cork': async (http) => {
    const log: unknown[] = [];
    const left: ((response: ServerResponse) => void)[] = [
      (response) => response.end(),
      (response) => {
        response.write('A');
        response.end('B');
        response.on('close', () => {
          log.push(response.socket);
          response.cork();
        });
      },
      (response) => void setTimeout(() => response.end('C'), 20),
    ];
    await using serving = await serve(http, {}, (_, response) => left.shift()!(response));
    const head = get.replace('GET', 'HEAD');
    const last = get.replace('Host: a', 'Host: a\r\nConnection: close');
    return [await serving.talk(get + head + last), log];
  },
  'a socket that is corked in the tick of a write keeps it': (http) =>
    held(http, async (response, note, socket) => {
      response.write('A', note('write'));
      socket.cork();
      await moment();
      response.write('B', note('write'));
      await moment();
      response.destroy();
    }),
  'a socket that is uncorked sends what was kept': (http) =>
    held(http, async (response, note, socket) => {
      socket.cork();
      response.write('A', note('write'));
      await moment();
      note('still corked')();
      socket.uncork();
      response.end('B', note('end'));
      setTimeout(() => socket.end(), 20);
    }),
  'a response that is corked before its turn keeps what it wrote': (http) =>
    held(
      http,
      (response, note) => setImmediate(() => response.end('A', note('first'))),
      async (response, note, socket) => {
        response.write('B', note('write'));
        response.cork();
        await moment();
        response.uncork();
        response.end('C', note('end'));
        setTimeout(() => socket.end(), 20);
      },
    ),
  'a response that is corked behind its end holds nobody up': async (http) => {
    await using serving = await serve(http, {}, (request, response) => {
      response.end(request.url);
      if (request.url !== '/1') return;
      response.cork();
      request.socket.write('raw');
    });
    return await serving.talk(
      'GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n',
      /\/2$/,
      'GET /3 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    );
  },
};
