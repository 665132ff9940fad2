import type { IncomingMessage, ServerResponse } from 'node:http';
import { attempt, gate, moment, serve, trace, type Behaviours, type HttpModule } from './engine.ts';
import { connect, leave, type Step } from './wire.ts';

const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const later = () => new Promise<void>((resolve) => setTimeout(resolve, 10));

type Doing = (
  response: ServerResponse,
  note: (fact: unknown) => void,
  request: IncomingMessage,
) => unknown;

/** What leaves for what a listener does to its response and the socket below, and what both hear. */
async function told(http: HttpModule, doing: Doing, ...steps: Step[]) {
  const log: string[] = [];
  const over = gate();
  await using serving = await serve(http, {}, (request, response) => {
    request.on('error', () => {});
    request.socket.once('close', () => over.open());
    trace(response, 'response', ['finish', 'close', 'error'], log);
    void doing(response, (fact) => log.push(JSON.stringify(fact)), request);
  });
  const conversation = await serving.talk(get, ...steps);
  await over.opened;
  await moment();
  return { conversation, log };
}

/** Notes how a callback is called. */
const call = (note: (fact: unknown) => void) => (error?: NodeJS.ErrnoException | null) =>
  note(['callback', error?.code ?? 'ok']);

export const rawSockets: Behaviours = {
  'what the socket writes comes behind what the response wrote': (http) =>
    told(http, (response) => {
      response.writeHead(200, { 'Content-Length': 2 });
      response.write('A');
      response.socket!.end('B');
    }),
  'the response writes behind the socket': (http) =>
    told(http, (response) => {
      response.writeHead(200, { 'Content-Length': 3 });
      response.write('A');
      response.socket!.write('B');
      response.write('C');
      response.socket!.end();
    }),
  'the end of the socket loses nothing': (http) =>
    told(http, (response, note) => {
      response.write('bye', call(note));
      response.socket!.end();
    }),
  'the end of the socket in the middle of a stream': (http) =>
    told(http, async (response) => {
      response.write('first');
      await later();
      response.write('bye');
      response.socket!.end();
    }),
  'destroySoon in the middle of a stream': (http) =>
    told(http, async (response) => {
      response.write('first');
      await later();
      response.write('bye');
      response.socket!.destroySoon();
    }),
  'destroySoon behind more than the kernel takes': async (http) => {
    const size = 8 << 20;
    await using serving = await serve(http, {}, (_, response) => {
      response.writeHead(200, { 'Content-Length': size });
      response.write(Buffer.alloc(size, 'x'));
      response.socket!.destroySoon();
    });
    const { received, end } = await serving.talk(get);
    return [received.slice(received.indexOf('\r\n\r\n') + 4).length, end];
  },
  'an end behind the end of the connection': (http) =>
    told(http, (response, note, request) => {
      request.destroy();
      response.end('x', call(note));
    }),
  'a response is ended behind the end of the socket': (http) =>
    told(http, (response, note) => {
      response.socket!.end();
      response.end('x', call(note));
    }),
  'a response is written behind destroySoon': (http) =>
    told(http, (response, note) => {
      response.socket!.destroySoon();
      response.write('x', call(note));
      response.end(call(note));
    }),
  'a second end behind the end of the connection': (http) =>
    told(http, (response, note, request) => {
      response.end('x', call(note));
      request.destroy();
      response.end();
    }),
  'a write is lost with a response that is destroyed for a reason': (http) =>
    told(http, (response, note) => {
      response.on('error', () => {});
      response.write('x', call(note));
      response.destroy(Object.assign(new Error('wanted'), { code: 'WANTED' }));
    }),
  'an end behind the end of the response': (http) =>
    told(http, (response, note) => {
      response.destroy();
      response.end('x', call(note));
    }),
  'an end behind the end of the socket, later': (http) =>
    told(http, async (response, note) => {
      response.socket!.destroy();
      await later();
      response.end('x', call(note));
    }),
  'the end of the connection behind a whole response': (http) =>
    told(http, (response, note, request) => {
      response.end('x', call(note));
      request.destroy();
    }),
  'the end of the connection while bytes wait': async (http) => {
    const log: string[] = [];
    const over = gate();
    await using serving = await serve(http, {}, (request, response) => {
      request.on('error', () => {});
      response.on('close', () => over.open());
      trace(response, 'response', ['finish', 'close'], log);
      response.writeHead(200, { 'Content-Length': 32 << 20 });
      response.end(
        Buffer.alloc(32 << 20),
        call((fact) => log.push(JSON.stringify(fact))),
      );
      setTimeout(() => request.destroy(), 20);
    });
    const deaf = connect(serving.port);
    deaf.pause();
    deaf.write(get);
    await over.opened;
    await moment();
    deaf.destroy();
    return log;
  },
  'lengths while bytes are held': (http) =>
    told(http, (response, note) => {
      const lengths = () => [
        response.writableLength,
        (response as unknown as { outputSize: number }).outputSize,
        response.socket!.writableLength,
        response.socket!.bufferSize,
        response.socket!.bytesWritten,
      ];
      note(lengths());
      response.sendDate = false;
      response.write('abc');
      note(lengths());
      response.write(Buffer.alloc(300));
      note(lengths());
      response.end('x');
      note(lengths());
      response.socket!.end();
    }),
  'lengths of a response whose turn is not yet': async (http) => {
    const log: unknown[] = [];
    await using serving = await serve(http, {}, (request, response) => {
      if (request.url === '/first') {
        setTimeout(() => response.end(), 20);
        return;
      }
      response.sendDate = false;
      response.write('abc');
      log.push([
        response.writableLength > 0,
        (response as never as { outputSize: number }).outputSize > 0,
      ]);
      setImmediate(() => {
        log.push(response.writableLength > 0);
        response.end();
      });
    });
    const both = get.replace('/ ', '/first ') + get;
    return [await serving.talk(both, /0\r\n\r\n$/, leave), log];
  },
  'lengths behind a slow client': async (http) => {
    const seen = gate<unknown>();
    await using serving = await serve(http, {}, (_, response) => {
      response.writeHead(200, { 'Content-Length': 32 << 20 });
      response.write(Buffer.alloc(32 << 20));
      setTimeout(() => {
        const socket = response.socket!;
        seen.open([
          response.writableLength > 1 << 20,
          socket.writableLength > 1 << 20,
          socket.bufferSize === socket.writableLength,
          socket.bytesWritten > 32 << 20,
        ]);
        response.destroy();
      }, 20);
    });
    const deaf = connect(serving.port);
    deaf.pause();
    deaf.write(get);
    const facts = await seen.opened;
    deaf.destroy();
    return facts;
  },
  'a client leaves a socket that a listener has paused': (http) =>
    told(
      http,
      (_, note, request) => {
        request.on('close', () => note('request close'));
        request.socket.pause();
      },
      moment,
      'FIN',
    ),
  'a pause before the end of a request is over with it': async (http) => {
    const log: string[] = [];
    await using serving = await serve(http, {}, ({ socket, url }, response) => {
      socket.on('pause', () => log.push('pause')).on('resume', () => log.push('resume'));
      socket.pause();
      setImmediate(() => {
        log.push(`${socket.isPaused()}`);
        response.end(url);
      });
    });
    const conversation = await serving.talk(get, /\/$/, get, /\/$/, leave);
    return { conversation, log };
  },
  'a paused socket reads no requests': async (http) => {
    const log: string[] = [];
    await using serving = await serve(http, {}, ({ socket, url }, response) => {
      log.push(url!);
      response.end(url, () => {
        if (url !== '/') return;
        socket.pause();
        setTimeout(() => {
          log.push('on');
          socket.resume();
        }, 50);
      });
    });
    const next = get.replace('/ ', '/next ');
    const conversation = await serving.talk(get, /\/$/, next, /next$/, leave);
    return { conversation, log };
  },
  'the server ends a connection that is paused': async (http) => {
    const log: string[] = [];
    const over = gate();
    await using serving = await serve(http, {}, ({ socket }, response) => {
      socket.on('close', () => {
        log.push('closed');
        over.open();
      });
      response.setHeader('Connection', 'close');
      setImmediate(() => {
        socket.pause();
        response.end('bye');
      });
    });
    const conversation = await serving.talk(get);
    await over.opened;
    return { conversation, log };
  },
  'the encoding of a socket is not to be changed': (http) =>
    told(http, (response, note) => {
      note(attempt(() => response.socket!.setEncoding('utf8')));
      response.socket!.end();
    }),
  'the socket says when a body waits and when it goes on': async (http) => {
    const log: string[] = [];
    await using serving = await serve(http, {}, async (request, response) => {
      request.socket.on('pause', () => log.push('pause')).on('resume', () => log.push('resume'));
      // More than it takes unread.
      while (!log.includes('pause')) await moment(2);
      let length = 0;
      for await (const chunk of request) length += (chunk as Buffer).length;
      response.end(`${length}`);
    });
    const size = 1 << 20;
    const conversation = await serving.talk(
      `POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: ${size}\r\n\r\n${'x'.repeat(size)}`,
    );
    return { conversation, goesOn: log.lastIndexOf('resume') > log.indexOf('pause') };
  },
  'a paused request stays paused when it is answered': async (http) => {
    const facts: unknown[] = [];
    await using serving = await serve(http, {}, (request, response) => {
      request.once('data', () => {
        request.pause();
        response.on('finish', () => {
          facts.push([(request as unknown as { _dumped: boolean })._dumped, request.isPaused()]);
        });
        response.end('x');
      });
    });
    const post = `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n`;
    const inOne = await serving.talk(`${post}abc`, /x$/, leave);
    const inTwo = await serving.talk(`${post}a`, later, 'bc', /x$/, leave);
    return { inOne, inTwo, facts };
  },
};
