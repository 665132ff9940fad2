import { once } from 'node:events';
import { connect as netConnect, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';
import {
  ask,
  gate,
  moment,
  serve,
  textOf,
  withLimit,
  type Behaviours,
  type Options,
  type Upgradable,
} from './engine.ts';
import { leave } from './wire.ts';

const upgrade = (...lines: string[]) =>
  ['GET /chat HTTP/1.1', 'Host: a', 'Connection: Upgrade', 'Upgrade: echo', ...lines, '', ''].join(
    '\r\n',
  );
const accepted = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n';

/** Answers in a protocol of its own: every byte twice. */
function echoTwice(socket: Duplex): void {
  socket.on('data', (chunk: Buffer) => socket.write(`${chunk.toString()}${chunk.toString()}`));
  socket.on('end', () => socket.end());
}

export const upgrades: Behaviours = {
  'an upgrade hands over the socket': async (http) => {
    const facts: unknown[] = [];
    await using serving = await serve(http, {}, undefined, (server) => {
      server.on('upgrade', (request, socket, head) => {
        facts.push(
          request.url,
          request.method,
          (request as Upgradable).upgrade,
          request.rawHeaders,
          socket instanceof Socket,
          head.toString(),
          Buffer.isBuffer(head),
          request.socket === socket,
        );
        socket.write(accepted);
        echoTwice(socket);
      });
    });
    return [await serving.talk(upgrade(), /\r\n\r\n/, 'ab', /abab/, 'c', /cc/, 'FIN'), facts];
  },
  'an Upgrade header without a value is not one': async (http) => {
    const answers: unknown[] = [];
    await using serving = await serve(
      http,
      {},
      (_, response) => response.end('answered'),
      (server) => server.on('upgrade', (_, socket) => socket.end(accepted)),
    );
    for (const lines of ['Upgrade:', 'Upgrade: \t', 'Upgrade:\r\nUpgrade: echo']) {
      answers.push(
        await serving.talk(
          `GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\n${lines}\r\n\r\n`,
          /answered|101/,
          leave,
        ),
      );
    }
    return answers;
  },
  'the bytes after the head are given along': async (http) => {
    const heads: string[] = [];
    await using serving = await serve(http, {}, undefined, (server) => {
      server.on('upgrade', (_, socket, head) => {
        heads.push(head.toString());
        socket.write(accepted);
        socket.write(head);
        echoTwice(socket);
      });
    });
    return [await serving.talk(`${upgrade()}early`, /early/, 'x', /xx/, 'FIN'), heads];
  },
  'an upgrade nobody listens for is a request': (http) =>
    ask(
      http,
      (request, response) => response.end(`${request.url} ${(request as Upgradable).upgrade}`),
      [upgrade(), /chat/, leave],
    ),
  'an upgrade of a kept connection': async (http) => {
    await using serving = await serve(
      http,
      {},
      (_, response) => response.end('plain'),
      (server) => {
        server.on('upgrade', (_, socket) => {
          socket.write(accepted);
          echoTwice(socket);
        });
      },
    );
    return await serving.talk(
      'GET / HTTP/1.1\r\nHost: a\r\n\r\n',
      /plain/,
      upgrade(),
      /\n\r\n/,
      'z',
      /zz/,
      'FIN',
    );
  },
  'an upgrade behind a request that is still due': async (http) => {
    await using serving = await serve(
      http,
      {},
      (_, response) => {
        setTimeout(() => response.end('plain'), 30);
      },
      (server) => {
        server.on('upgrade', (_, socket) => {
          setTimeout(() => socket.end(accepted), 100);
        });
      },
    );
    return await serving.talk(`GET / HTTP/1.1\r\nHost: a\r\n\r\n${upgrade()}`);
  },
  'an upgrade with a body': async (http) => {
    const bodies: unknown[] = [];
    await using serving = await serve(http, {}, undefined, (server) => {
      server.on('upgrade', (request, socket, head) => {
        bodies.push([request.headers['content-length'], head.toString()]);
        socket.end(accepted);
      });
    });
    return [
      await serving.talk(`${upgrade('Content-Length: 4').replace('GET', 'POST')}body`),
      bodies,
    ];
  },
  'an upgrade with a body that is read, and comes in pieces': async (http) => {
    const log: string[] = [];
    const over = gate();
    await using serving = await serve(http, {}, undefined, (server) => {
      server.on('connection', () => log.push('connection'));
      server.on('upgrade', (request, socket, head) => {
        log.push(
          `${request.method} ${request.url} ${request.rawHeaders.join()} ${head.toString()}`,
        );
        request.on('data', (chunk: Buffer) => log.push(`body ${chunk.toString()}`));
        request.on('end', () => log.push('end'));
        socket.write(accepted);
        let text = '';
        socket.on('data', (chunk: Buffer) => {
          text += chunk.toString();
          if (!text.endsWith('bye')) return;
          socket.end('bye');
          over.open();
        });
      });
    });
    const head = upgrade('Content-Length: 4').replace('GET', 'POST');
    const conversation = await serving.talk(`${head}bo`, /101/, 'dyhello', moment, 'bye');
    await over.opened;
    return [conversation, log];
  },
  'an upgrade with a body behind a request, which nobody takes': async (http) => {
    await using serving = await serve(http, {}, (request, response) => {
      request.resume();
      response.end(request.url);
    });
    const head = upgrade('Transfer-Encoding: chunked').replace('GET', 'POST');
    return await serving.talk(
      `GET /first HTTP/1.1\r\nHost: a\r\n\r\n${head}4\r\nbody\r\n0\r\n\r\n`,
      /chat/,
      leave,
    );
  },
  'Connection without Upgrade is no upgrade': async (http) => {
    const upgraded: string[] = [];
    await using serving = await serve(
      http,
      {},
      (request, response) => response.end(`plain ${(request as Upgradable).upgrade}`),
      (server) => server.on('upgrade', (request) => upgraded.push(request.url!)),
    );
    return [
      await serving.talk(
        'GET /1 HTTP/1.1\r\nHost: a\r\nConnection: close, Upgrade-ish\r\nUpgrade: x\r\n\r\n',
      ),
      await serving.talk(
        'GET /2 HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\n\r\n',
        /plain/,
        leave,
      ),
      await serving.talk('GET /3 HTTP/1.1\r\nHost: a\r\nUpgrade: x\r\n\r\n', /plain/, leave),
      upgraded,
    ];
  },
  'a handler may refuse, and destroy': async (http) => {
    await using serving = await serve(http, {}, undefined, (server) => {
      server.on('upgrade', (request, socket) => {
        if (request.url === '/chat') socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
        else socket.destroy();
      });
    });
    return [await serving.talk(upgrade()), await serving.talk(upgrade().replace('/chat', '/'))];
  },
  shouldUpgradeCallback: async (http) => {
    const options = {
      shouldUpgradeCallback: (request: { url: string }) => request.url === '/chat',
    } as unknown as Options;
    await using serving = await serve(
      http,
      options,
      (request, response) => response.end(`plain ${request.url}`),
      (server) => server.on('upgrade', (_, socket) => socket.end(accepted)),
    );
    return [
      await serving.talk(upgrade()),
      await serving.talk(upgrade().replace('/chat', '/other'), /plain/, leave),
    ];
  },
  'an upgraded socket has no timeouts of HTTP': (http) =>
    withLimit(40, async (limit, wasInTime) => {
      const options = {
        headersTimeout: limit,
        requestTimeout: limit,
        keepAliveTimeout: limit,
        connectionsCheckingInterval: 10,
      };
      await using serving = await serve(http, options, undefined, (server) => {
        server.on('upgrade', (_, socket) => {
          wasInTime();
          socket.write(accepted);
          setTimeout(() => socket.end('still here'), 5 * limit);
        });
      });
      return await serving.talk(upgrade());
    }),
  'CONNECT hands over the socket': async (http) => {
    const facts: unknown[] = [];
    await using serving = await serve(http, {}, undefined, (server) => {
      server.on('connect', (request, socket, head) => {
        facts.push(request.url, request.method, request.headers, head.toString());
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
        echoTwice(socket);
      });
    });
    return [
      await serving.talk(
        'CONNECT example.test:443 HTTP/1.1\r\nHost: example.test:443\r\n\r\nearly',
        /established\r\n\r\n/,
        'q',
        /qq/,
        'FIN',
      ),
      facts,
    ];
  },
  'a tunnel through CONNECT': async (http) => {
    await using target = await serve(http, {}, (request, response) => {
      response.end(`through ${request.headers.host}`);
    });
    await using proxy = await serve(http, {}, undefined, (server) => {
      server.on('connect', (_, socket, head) => {
        const onward = netConnect(target.port, '127.0.0.1', () => {
          socket.write('HTTP/1.1 200 OK\r\n\r\n');
          onward.write(head);
          socket.pipe(onward).pipe(socket);
        });
      });
    });
    return await proxy.talk(
      'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n',
      /200 OK\r\n\r\n/,
      'GET / HTTP/1.1\r\nHost: b\r\nConnection: close\r\n\r\n',
    );
  },
  'CONNECT that nobody listens for': (http) =>
    ask(http, (_, response) => response.end('x'), ['CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n']),
  'CONNECT with a target that is none': async (http) => {
    const urls: string[] = [];
    await using serving = await serve(http, {}, undefined, (server) => {
      server.on('connect', (request, socket) => {
        urls.push(request.url!);
        socket.end('HTTP/1.1 200 OK\r\n\r\n');
      });
    });
    return [await serving.talk('CONNECT /path HTTP/1.1\r\nHost: a\r\n\r\n', 'FIN'), urls];
  },
  'back-pressure of an upgraded socket': async (http) => {
    const size = 20 * 2 ** 20;
    const received = gate<number>();
    await using serving = await serve(http, {}, undefined, (server) => {
      server.on('upgrade', async (_, socket) => {
        socket.write(accepted);
        let length = 0;
        for await (const chunk of socket) length += (chunk as Buffer).length;
        received.open(length);
        socket.end();
      });
    });
    const conversation = await serving.talk(upgrade(), /\r\n\r\n/, Buffer.alloc(size), 'FIN');
    return [conversation.end, (await received.opened) === size];
  },
  'closing the server leaves an upgraded socket': async (http) => {
    const handed = gate<Duplex>();
    await using serving = await serve(http, {}, undefined, (server) => {
      server.on('upgrade', (_, socket) => {
        socket.write(accepted);
        handed.open(socket);
        echoTwice(socket);
      });
    });
    return await serving.talk(
      upgrade(),
      /\r\n\r\n/,
      async () => {
        await handed.opened;
        serving.server.close();
        serving.server.closeAllConnections();
      },
      'still',
      /stillstill/,
      'FIN',
    );
  },
  'ws: messages both ways, and the end': async (http) => {
    await using serving = await serve(http, {}, (_, response) => response.end('plain'));
    const sockets = new WebSocketServer({ server: serving.server });
    const log: unknown[] = [];
    sockets.on('connection', (socket, request) => {
      log.push(['connection', request.url]);
      socket.on('message', (data, isBinary) => socket.send(data as Buffer, { binary: isBinary }));
      socket.on('close', (code, reason) => log.push(['server close', code, reason.toString()]));
    });
    const client = new WebSocket(`ws://127.0.0.1:${serving.port}/room`);
    await once(client, 'open');
    for (const message of ['text', Buffer.from([0, 1, 255]), 'x'.repeat(300_000), '']) {
      client.send(message);
      const [data, isBinary] = (await once(client, 'message')) as [Buffer, boolean];
      log.push([data.length, isBinary, data.subarray(0, 4).toString('hex')]);
    }
    client.ping('p');
    log.push(['pong', String((await once(client, 'pong'))[0])]);
    client.close(4_000, 'bye');
    const [code, reason] = (await once(client, 'close')) as [number, Buffer];
    log.push(['client close', code, reason.toString()]);
    sockets.close();
    return log;
  },
  'ws: many sockets at once, with requests between': async (http) => {
    await using serving = await serve(http, {}, (_, response) => response.end('plain'));
    const sockets = new WebSocketServer({ server: serving.server, perMessageDeflate: true });
    sockets.on('connection', (socket) => socket.on('message', (data) => socket.send(String(data))));
    const answers = Array.from({ length: 40 }, async (_, i) => {
      const client = new WebSocket(`ws://127.0.0.1:${serving.port}/`);
      await once(client, 'open');
      client.send(`message ${i}`);
      const [data] = (await once(client, 'message')) as [Buffer];
      const plain = await fetch(`http://127.0.0.1:${serving.port}/`);
      client.terminate();
      return [String(data), await plain.text()];
    });
    const all = await Promise.all(answers);
    sockets.close();
    return all;
  },
  'ws: a handshake that is refused': async (http) => {
    await using serving = await serve(http, {}, undefined);
    const sockets = new WebSocketServer({
      server: serving.server,
      verifyClient: (_: unknown, done: (ok: boolean, code: number) => void) => done(false, 401),
    });
    const client = new WebSocket(`ws://127.0.0.1:${serving.port}/`);
    client.on('error', () => {});
    const [request, response] = (await once(client, 'unexpected-response')) as [
      { destroy: () => void },
      { statusCode: number } & AsyncIterable<unknown>,
    ];
    const text = await textOf(response);
    request.destroy();
    sockets.close();
    return [response.statusCode, text];
  },
};
