import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket } from 'ws';
import { ask, load, type Application } from '../application.ts';

/** A server behind, which a proxy asks. */
async function behind(): Promise<{ url: string; server: Server }> {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    response.writeHead(request.url === '/missing' ? 404 : 201, { 'X-Behind': 'yes' });
    response.end(JSON.stringify([request.method, request.url, request.headers['x-given'], body]));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

export const traffic: Record<string, Application> = {
  '@fastify/websocket': async (app) => {
    await app.register(load('@fastify/websocket'));
    app.get('/plain', () => 'plain');
    app.get(
      '/ws',
      { websocket: true } as object,
      ((socket: WebSocket, request: { url: string }) => {
        socket.send(`hello ${request.url}`);
        socket.on('message', (message) => socket.send(`echo ${String(message)}`));
      }) as never,
    );
    return async (base) => {
      const client = new WebSocket(`${base.replace('http', 'ws')}/ws?room=1`);
      const messages: string[] = [];
      const three = new Promise<void>((resolve) => {
        client.on('message', (data) => messages.push(String(data)) === 3 && resolve());
      });
      await once(client, 'open');
      client.send('one');
      client.send('two');
      await three;
      client.close(4_001);
      const [code] = await once(client, 'close');
      return [messages, code, await ask(`${base}/plain`)];
    };
  },
  '@fastify/sse': async (app) => {
    await app.register(load('@fastify/sse'));
    app.get('/', { sse: 'only' } as object, async (_, reply) => {
      const { sse } = reply as never as { sse: { send: (source: unknown) => Promise<void> } };
      await sse.send({ id: '1', event: 'update', data: { first: true } });
      await sse.send(
        (async function* events() {
          for (let i = 2; i < 5; i++) {
            await new Promise((resolve) => setTimeout(resolve, 5));
            yield { id: String(i), data: `event ${i}` };
          }
        })(),
      );
    });
    return (base) => ask(base, { headers: { Accept: 'text/event-stream' } });
  },
  '@fastify/reply-from': async (app) => {
    const { url, server } = await behind();
    app.addHook('onClose', () => void server.close());
    await app.register(load('@fastify/reply-from'), { base: url });
    app.all('/*', (request, reply) =>
      (reply as never as { from: (path: string) => unknown }).from(request.url),
    );
    const json = { 'Content-Type': 'application/json', 'X-Given': 'header' };
    return async (base) => [
      await ask(`${base}/a?b=c`, { headers: { 'X-Given': 'header' } }),
      await ask(`${base}/post`, { method: 'POST', headers: json, body: '{"a":1}' }),
      await ask(`${base}/missing`),
    ];
  },
  '@fastify/http-proxy': async (app) => {
    const { url, server } = await behind();
    app.addHook('onClose', () => void server.close());
    await app.register(load('@fastify/http-proxy'), { upstream: url, prefix: '/api' });
    return async (base) => [
      await ask(`${base}/api/a?b=c`, { headers: { 'X-Given': 'header' } }),
      await ask(`${base}/api/post`, { method: 'POST', body: 'x'.repeat(100_000) }),
      await ask(`${base}/elsewhere`),
    ];
  },
  '@fastify/circuit-breaker': async (app) => {
    await app.register(load('@fastify/circuit-breaker'), { threshold: 2, resetTimeout: 5_000 });
    const breaker = app as never as { circuitBreaker: () => never };
    app.after(() => {
      app.get('/', { preHandler: breaker.circuitBreaker() }, async () => {
        throw new Error('broken');
      });
    });
    return async (base) => {
      const answers = [await ask(base), await ask(base), await ask(base)];
      return answers.map(({ status, body }) => [status, body]);
    };
  },
  '@fastify/under-pressure': async (app) => {
    await app.register(load('@fastify/under-pressure'), {
      exposeStatusRoute: '/status',
      maxEventLoopDelay: 60_000,
      healthCheck: async () => true,
      healthCheckInterval: 1_000,
    });
    app.get('/', () => 'fine');
    return async (base) => [await ask(base), await ask(`${base}/status`)];
  },
  '@fastify/swagger': async (app) => {
    await app.register(load('@fastify/swagger'), {
      openapi: { info: { title: 'T', version: '1' } },
    });
    const response = { 200: { type: 'object', properties: { id: { type: 'number' } } } };
    app.get('/things/:id', { schema: { response } }, () => ({ id: 1, hidden: true }));
    app.get('/json', () => (app as never as { swagger: () => object }).swagger());
    return async (base) => [await ask(`${base}/things/1`), await ask(`${base}/json`)];
  },
  '@fastify/swagger-ui': async (app) => {
    await app.register(load('@fastify/swagger'), {
      openapi: { info: { title: 'T', version: '1' } },
    });
    await app.register(load('@fastify/swagger-ui'), { routePrefix: '/docs' });
    return async (base) => {
      const page = await ask(`${base}/docs/`);
      const script = await ask(`${base}/docs/static/swagger-ui-bundle.js`);
      return [
        page.status,
        page.body.length,
        await ask(`${base}/docs/json`),
        script.status,
        script.headers['content-length'],
        script.body.length,
      ];
    };
  },
};
