import { AsyncLocalStorage, createHook, executionAsyncId } from 'node:async_hooks';
import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { Agent, get as httpGet, request as httpRequest, type IncomingMessage } from 'node:http';
import { PerformanceObserver } from 'node:perf_hooks';
import {
  gate,
  moment,
  serve,
  textOf,
  type Behaviours,
  type HttpModule,
  type Listener,
} from './engine.ts';
import { connect, leave, Line } from './wire.ts';

const get = 'GET /path HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

/** Messages of node's own channels while something runs. */
async function published(names: string[], run: () => Promise<unknown>): Promise<unknown> {
  const seen: unknown[] = [];
  const listeners = names.map((name) => {
    const listener = (message: unknown) => {
      const facts = message as Record<string, { url?: string; statusCode?: number } | undefined>;
      seen.push([
        name,
        Object.keys(facts).toSorted(),
        facts['request']?.url,
        facts['response']?.statusCode,
      ]);
    };
    subscribe(name, listener);
    return [name, listener] as const;
  });
  try {
    return [await run(), seen];
  } finally {
    for (const [name, listener] of listeners) unsubscribe(name, listener);
  }
}

const channels = [
  'http.server.request.start',
  'http.server.response.created',
  'http.server.response.finish',
];

/** What several clients bring about when they ask at once. */
async function together(
  http: HttpModule,
  listener: (...args: [...Parameters<Listener>, log: string[]]) => void,
  isRead = true,
  clients = 4,
): Promise<string[]> {
  const log: string[] = [];
  const store = new AsyncLocalStorage<string>();
  await using serving = await serve(http, {}, (request, response) => {
    const note = (fact: string) => log.push(`${request.url} ${fact} in ${store.getStore()}`);
    store.run(request.url!, () => listener(request, response, { push: note } as never));
  });
  const lines = Array.from({ length: clients }, (_, index) => ({
    url: `/${index + 1}`,
    line: new Line(connect(serving.port)),
  }));
  await Promise.all(lines.map(({ line }) => once(line.socket, 'connect')));
  for (const { line, url } of lines) {
    if (!isRead) line.socket.pause();
    line.socket.write(`GET ${url} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
  }
  if (!isRead) {
    await moment(100);
    for (const { line } of lines) line.socket.resume();
  }
  await Promise.all(lines.map(({ line }) => line.untilClosed()));
  return log.toSorted();
}

export const surroundings: Behaviours = {
  'callbacks of answers that leave together have contexts of their own': (http) =>
    together(http, (_, response, log) => {
      response.write('a', () => log.push('written'));
      response.end('b', () => log.push('ended'));
    }),
  'what a callback of write throws is uncaught, and stops no response that leaves with it': async (
    http,
  ) => {
    const caught: string[] = [];
    const others = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    process.on('uncaughtException', (error) => caught.push(error.message));
    try {
      const throwOnce: Parameters<typeof together>[1] = ({ url }, response, facts) => {
        response.write('a', () => {
          setImmediate(() => response.end('b', () => facts.push('ended')));
          throw new Error(`of ${url}`);
        });
      };
      // More than the engine looks at one by one.
      const log = await together(http, throwOnce, true, 20);
      return [log, caught.toSorted()];
    } finally {
      process.removeAllListeners('uncaughtException');
      for (const listener of others) process.on('uncaughtException', listener as () => void);
    }
  },
  'a listener that comes after the end has no context of others': async (http) => {
    const log = await together(http, (_, response, facts) => {
      response.end('b');
      response.on('finish', () => facts.push('finish'));
    });
    // Node has kept the request's own; nobody else's is what matters.
    return log.map((line) => line.replace(/^(\S+) finish in (?:\1|undefined)$/, 'its own or none'));
  },
  'drain and what follows have the context of the answer': (http) =>
    together(
      http,
      (_, response, log) => {
        response.on('drain', () => {
          log.push('drain');
          response.end(() => log.push('ended'));
        });
        response.on('finish', () => log.push('finish'));
        response.write(Buffer.alloc(8_000_000), () => log.push('written'));
      },
      false,
    ),
  'diagnostics channels of a server': (http) =>
    published(channels, async () => {
      const finished = gate();
      await using serving = await serve(http, {}, (_, response) => {
        response.statusCode = 201;
        response.on('close', finished.open);
        response.end('x');
      });
      const conversation = await serving.talk(get);
      await finished.opened;
      return conversation;
    }),
  'diagnostics: what the messages hold': async (http) => {
    const facts: unknown[] = [];
    const seen: Record<string, unknown>[] = [];
    const listener = (message: unknown) => {
      seen.push(message as Record<string, unknown>);
    };
    subscribe('http.server.request.start', listener);
    await using serving = await serve(http, {}, (request, response) => {
      const [message] = seen;
      facts.push(
        message?.['request'] === request,
        message?.['response'] === response,
        message?.['socket'] === request.socket,
        message?.['server'] === serving.server,
      );
      response.end();
    });
    await serving.talk(get);
    unsubscribe('http.server.request.start', listener);
    return facts;
  },
  'a listener that binds a store to a channel': async (http) => {
    const store = new AsyncLocalStorage<{ id: string }>();
    const start = channel('http.server.request.start');
    start.bindStore(store, (message) => ({
      id: (message as { request: IncomingMessage }).request.url!,
    }));
    const seen: unknown[] = [];
    await using serving = await serve(http, {}, async (_, response) => {
      await new Promise((resolve) => setImmediate(resolve));
      seen.push(store.getStore()?.id ?? null);
      response.end();
    });
    await serving.talk(get);
    start.unbindStore(store);
    return seen;
  },
  'each request has a context of its own': async (http) => {
    const store = new AsyncLocalStorage<string>();
    await using serving = await serve(http, {}, (request, response) => {
      const outer = store.getStore() ?? 'none';
      store.run(request.url!, async () => {
        const body = await textOf(request);
        await new Promise((resolve) => setTimeout(resolve, Number(request.url!.slice(1)) % 7));
        const own = store.getStore();
        response.on('finish', () => void 0);
        response.end(`${outer} ${own} ${body};`);
      });
    });
    const talks = Array.from({ length: 20 }, (_, i) =>
      serving.talk(
        `POST /${i} HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx`,
        /;$/,
        `POST /${i}1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 1\r\n\r\ny`,
      ),
    );
    return await Promise.all(talks);
  },
  'enterWith does not leak into other requests': async (http) => {
    const store = new AsyncLocalStorage<string>();
    await using serving = await serve(http, {}, (request, response) => {
      const before = store.getStore() ?? 'none';
      store.enterWith(request.url!);
      setTimeout(() => response.end(`${before}->${store.getStore()};`), 10);
    });
    const talks = Array.from({ length: 5 }, (_, i) =>
      serving.talk(`GET /${i} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`),
    );
    return await Promise.all(talks);
  },
  'enterWith does not leak from request to request of one connection': async (http) => {
    const store = new AsyncLocalStorage<string>();
    await using serving = await serve(http, {}, (request, response) => {
      const before = store.getStore() ?? 'none';
      store.enterWith(request.url!);
      response.end(`${before};`);
    });
    return await serving.talk(
      'GET /1 HTTP/1.1\r\nHost: a\r\n\r\n',
      /;$/,
      'GET /2 HTTP/1.1\r\nHost: a\r\n\r\nGET /3 HTTP/1.1\r\nHost: a\r\n\r\n',
      /;$/,
      leave,
    );
  },
  'the context of the one who listens is not the one of requests': async (http) => {
    const store = new AsyncLocalStorage<string>();
    const serving = await store.run('listener', () =>
      serve(http, {}, (_, response) => {
        response.end(store.getStore() ?? 'none');
      }),
    );
    await using held = serving;
    return await held.talk(get);
  },
  'events of a request keep its context': async (http) => {
    const store = new AsyncLocalStorage<string>();
    const seen: string[] = [];
    const closed = gate();
    await using serving = await serve(http, {}, (request, response) => {
      store.run('mine', () => {
        const note = (name: string) => () => seen.push(`${name} ${store.getStore() ?? 'none'}`);
        setTimeout(() => {
          note('timer')();
          response.end('x', note('callback'));
        }, 5);
        request.resume();
      });
      response.on('close', closed.open);
    });
    await serving.talk(get);
    await closed.opened;
    return seen;
  },
  'an async id of its own for each request': async (http) => {
    const ids = new Set<number>();
    await using serving = await serve(http, {}, (_, response) => {
      ids.add(executionAsyncId());
      response.end('x');
    });
    await serving.talk(
      'GET /1 HTTP/1.1\r\nHost: a\r\n\r\n',
      /x$/,
      'GET /2 HTTP/1.1\r\nHost: a\r\n\r\n',
      /x$/,
      leave,
    );
    return [ids.size > 0, ids.has(0)];
  },
  'async hooks see the requests': async (http) => {
    const types = new Set<string>();
    const hook = createHook({
      init(_, type) {
        types.add(type);
      },
    }).enable();
    await using serving = await serve(http, {}, (_, response) => response.end('x'));
    await serving.talk(get);
    hook.disable();
    return types.has('HTTPINCOMINGMESSAGE');
  },
  'a PerformanceObserver sees them': async (http) => {
    const observed = gate<unknown>();
    const observer = new PerformanceObserver((list) => {
      const entry = list.getEntries().find(({ name }) => name === 'HttpRequest');
      const detail = (entry as unknown as { detail: unknown } | undefined)?.detail as
        | { req: { method: string; url: string }; res: object }
        | undefined;
      if (detail) observed.open([detail.req.method, detail.req.url, Object.keys(detail.res)]);
    });
    observer.observe({ entryTypes: ['http'] });
    await using serving = await serve(http, {}, (_, response) => response.end('x'));
    await serving.talk(get);
    const seen = await observed.opened;
    observer.disconnect();
    return seen;
  },
  'microtasks and ticks run between requests': async (http) => {
    const log: string[] = [];
    await using serving = await serve(http, {}, (request, response) => {
      log.push(`start ${request.url}`);
      process.nextTick(() => log.push(`tick ${request.url}`));
      void Promise.resolve().then(() => log.push(`microtask ${request.url}`));
      response.end();
    });
    await serving.talk('GET /1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    return log;
  },
  "node's own client and its agent": async (http) => {
    await using serving = await serve(http, {}, async (request, response) => {
      response.setHeader('X-Url', request.url!);
      response.end(await textOf(request));
    });
    const agent = new Agent({ keepAlive: true, maxSockets: 2 });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => send(serving.port, agent, i)),
    );
    agent.destroy();
    return answers;
  },
  fetch: async (http) => {
    await using serving = await serve(http, {}, async (request, response) => {
      response.writeHead(202, { 'X-Method': request.method! });
      response.end(await textOf(request));
    });
    const url = `http://127.0.0.1:${serving.port}`;
    const answers: unknown[] = [];
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const body = ['POST', 'PUT', 'PATCH'].includes(method) ? { body: `body of ${method}` } : {};
      const answer = await fetch(url, { method, ...body });
      answers.push([answer.status, answer.headers.get('x-method'), await answer.text()]);
    }
    return answers;
  },
  'a client that cancels its fetch': async (http) => {
    const closed = gate<unknown>();
    await using serving = await serve(http, {}, (_, response) => {
      response.write('begun');
      response.on('close', () => closed.open(response.writableFinished));
    });
    const controller = new AbortController();
    const answer = await fetch(`http://127.0.0.1:${serving.port}`, { signal: controller.signal });
    controller.abort();
    await answer.text().catch(() => {});
    return await closed.opened;
  },
  'trailers and informational answers, seen by a client': async (http) => {
    await using serving = await serve(http, {}, (_, response) => {
      response.writeEarlyHints({ link: '</a>; rel=preload' });
      response.writeHead(200, { Trailer: 'X-Sum' });
      response.write('body');
      response.addTrailers({ 'X-Sum': '1' });
      response.end();
    });
    const outgoing = httpGet({ port: serving.port, host: '127.0.0.1', agent: false });
    const informed = once(outgoing, 'information').then(
      ([info]) => (info as { statusCode: number }).statusCode,
    );
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    return [await textOf(answer), answer.trailers, await informed];
  },
  'emitting a request by hand, as inject does': (http) => emitted(http),
};

async function emitted(http: HttpModule): Promise<unknown> {
  const { IncomingMessage: Incoming, ServerResponse: Response } = await import('node:http');
  const { Socket } = await import('node:net');
  const server = http.createServer((request, response) => {
    response.end(`hello ${request.url}`);
  });
  const request = new Incoming(new Socket());
  Object.assign(request, { method: 'GET', url: '/injected' });
  const response = new Response(request);
  server.emit('request', request, response);
  return [response.writableEnded, response.statusCode];
}

function send(port: number, agent: Agent, i: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({ port, host: '127.0.0.1', agent, method: 'POST', path: `/${i}` });
    outgoing.on('response', async (answer) => {
      resolve([answer.statusCode, answer.headers['x-url'], await textOf(answer)]);
    });
    outgoing.on('error', reject);
    outgoing.end(`body ${i}`);
  });
}
