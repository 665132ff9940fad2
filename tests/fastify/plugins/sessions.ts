import { ask, load, type Application } from '../application.ts';

const secret = 'a secret that is at least thirty-two characters long';

export const sessions: Record<string, Application> = {
  '@fastify/cookie': async (app) => {
    await app.register(load('@fastify/cookie'), { secret });
    app.get('/', (request, reply) => {
      const { cookies } = request as never as { cookies: Record<string, string> };
      const answer = reply as never as { setCookie: (...args: unknown[]) => typeof answer };
      answer
        .setCookie('one', '1', { path: '/', httpOnly: true })
        .setCookie('two', '2', { signed: true });
      return { ...cookies };
    });
    return async (base) => {
      const response = await fetch(base, { headers: { Cookie: 'a=b; c=d%20e' } });
      return [response.headers.getSetCookie(), await response.json()];
    };
  },
  '@fastify/session': async (app) => {
    await app.register(load('@fastify/cookie'));
    await app.register(load('@fastify/session'), { secret, cookie: { secure: false } });
    app.get('/', (request) => {
      const { session } = request as never as { session: { count?: number } };
      session.count = (session.count ?? 0) + 1;
      return { count: session.count };
    });
    return async (base) => {
      const first = await fetch(base);
      const cookie = first.headers.getSetCookie()[0]!.split(';', 1)[0]!;
      const bodies = [await first.json()];
      for (let i = 0; i < 3; i++) {
        bodies.push(await (await fetch(base, { headers: { Cookie: cookie } })).json());
      }
      return bodies;
    };
  },
  '@fastify/jwt': async (app) => {
    await app.register(load('@fastify/jwt'), { secret });
    const signer = app as never as { jwt: { sign: (payload: object) => string } };
    app.post('/login', () => ({ token: signer.jwt.sign({ user: 'ann', iat: 1 }) }));
    app.get('/', async (request, reply) => {
      try {
        return await (request as never as { jwtVerify: () => Promise<object> }).jwtVerify();
      } catch (error) {
        return reply.send(error);
      }
    });
    return async (base) => {
      const { token } = JSON.parse((await ask(`${base}/login`, { method: 'POST' })).body);
      return [
        await ask(base, { headers: { Authorization: `Bearer ${token}` } }),
        await ask(base, { headers: { Authorization: `Bearer ${token}x` } }),
        await ask(base),
      ];
    };
  },
  '@fastify/cors': async (app) => {
    await app.register(load('@fastify/cors'), {
      origin: ['http://a.test'],
      credentials: true,
      maxAge: 60,
    });
    app.get('/', () => 'hello');
    const preflight = { Origin: 'http://a.test', 'Access-Control-Request-Method': 'PUT' };
    return async (base) => [
      await ask(base, { headers: { Origin: 'http://a.test' } }),
      await ask(base, { headers: { Origin: 'http://b.test' } }),
      await ask(base, { method: 'OPTIONS', headers: preflight }),
    ];
  },
  '@fastify/helmet': async (app) => {
    await app.register(load('@fastify/helmet'));
    app.get('/', () => 'safe');
    return (base) => ask(base);
  },
  '@fastify/rate-limit': async (app) => {
    await app.register(load('@fastify/rate-limit'), { max: 2, timeWindow: 60_000 });
    app.get('/', () => 'hello');
    return async (base) => {
      const answers = [await ask(base), await ask(base), await ask(base)];
      return answers.map(({ status, headers }) => [
        status,
        headers['x-ratelimit-limit'],
        headers['x-ratelimit-remaining'],
      ]);
    };
  },
};
