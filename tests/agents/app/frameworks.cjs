// One app, written for each framework: the same routes, from a handler that is done at once to one whose client leaves.
const http = require('node:http');

/** Resolves in a later turn of the loop. */
const later = () => new Promise((resolve) => setImmediate(resolve));

/** A request of the server's own, to itself: a span below its request's. */
function call(port) {
  return new Promise((resolve, reject) => {
    const options = { port, host: '127.0.0.1', path: '/users/7', agent: false };
    const request = http.get(options, (response) => {
      response.resume().on('end', () => resolve(response.statusCode));
    });
    request.on('error', reject);
  });
}

async function pieces(response) {
  response.writeHead(200, { 'content-type': 'text/plain' });
  for (const piece of ['one', 'two', 'three']) {
    response.write(piece);
    await later();
  }
  response.end();
}

/** The client leaves at the first byte. */
function leave(response) {
  response.writeHead(200, { 'content-type': 'text/plain' });
  response.write('waiting');
}

const portOf = (request) => request.socket.localPort;

async function read(request) {
  let body = '';
  for await (const piece of request) body += piece;
  return JSON.parse(body);
}

const plain = () => {
  const json = (response, status, value) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(value));
  };
  return http.createServer(async (request, response) => {
    const { pathname } = new URL(request.url, 'http://a');
    if (pathname === '/quick') return response.end('quick');
    if (pathname === '/pieces') return pieces(response);
    if (pathname === '/leave') return leave(response);
    if (pathname === '/echo') return json(response, 201, await read(request));
    if (pathname === '/call') return json(response, 200, await call(portOf(request)));
    if (pathname === '/fails') return json(response, 500, 'fails');
    if (pathname.startsWith('/users/')) {
      await later();
      response.setHeader('x-user', 'a');
      return json(response, 200, pathname);
    }
    return json(response, 404, 'missing');
  });
};

const expressApp = (express) => {
  const app = express();
  app.use(express.json());
  app.get('/quick', (_, response) => response.send('quick'));
  app.get('/pieces', (_, response) => void pieces(response));
  app.get('/leave', (_, response) => leave(response));
  app.post('/echo', (request, response) => response.status(201).json(request.body));
  app.get('/call', (request, response, next) => {
    call(portOf(request)).then((status) => response.json(status), next);
  });
  app.get('/fails', () => {
    throw new Error('fails');
  });
  const users = express.Router();
  users.use((_, response, next) => {
    response.setHeader('x-user', 'a');
    next();
  });
  users.get('/:id', (request, response) => {
    setImmediate(() => response.json(request.params.id));
  });
  app.use('/users', users);
  // Express would write the stack to standard error.
  app.use((_error, _request, response, _next) => response.status(500).json('fails'));
  return http.createServer(app);
};

const fastify = async () => {
  const app = require('fastify')();
  app.get('/quick', (_, reply) => reply.send('quick'));
  app.get('/pieces', (_, reply) => void pieces(reply.hijack().raw));
  app.get('/leave', (_, reply) => void leave(reply.hijack().raw));
  app.post('/echo', async (request, reply) => reply.code(201).send(request.body));
  app.get('/call', (request) => call(portOf(request.raw)).then((status) => ({ status })));
  app.get('/fails', async () => {
    throw new Error('fails');
  });
  app.addHook('onSend', async (_, reply) => void reply.header('x-user', 'a'));
  app.get('/users/:id', (request) => later().then(() => request.params));
  await app.ready();
  return app.server;
};

const koa = () => {
  const Koa = require('koa');
  const app = new Koa();
  app.silent = true;
  app.use(async function named(context, next) {
    await next();
    context.set('x-user', 'a');
  });
  app.use(async function routes(context) {
    const { path } = context;
    if (path === '/pieces' || path === '/leave') {
      context.respond = false;
      context.res.statusCode = 200;
      return void (path === '/pieces' ? pieces(context.res) : leave(context.res));
    }
    if (path === '/fails') throw new Error('fails');
    if (path === '/echo') {
      context.body = await read(context.req);
      context.status = 201;
    }
    if (path === '/quick') context.body = 'quick';
    if (path === '/call') context.body = { status: await call(portOf(context.req)) };
    if (path.startsWith('/users/')) {
      await later();
      context.body = { path };
    }
  });
  return http.createServer(app.callback());
};

async function nest(adapter, rawOf) {
  require('reflect-metadata');
  const common = require('@nestjs/common');
  const { NestFactory } = require('@nestjs/core');
  class Users {
    quick() {
      return 'quick';
    }
    pieces(response) {
      void pieces(rawOf(response));
    }
    leave(response) {
      leave(rawOf(response));
    }
    echo(body) {
      return body;
    }
    async call(request) {
      return { status: await call(portOf(request)) };
    }
    fails() {
      throw new common.ServiceUnavailableException('fails');
    }
    async user(id) {
      await later();
      return { id };
    }
  }
  const routes = {
    quick: [common.Get('quick')],
    pieces: [common.Get('pieces'), common.Res()],
    leave: [common.Get('leave'), common.Res()],
    echo: [common.Post('echo'), common.Body()],
    call: [common.Get('call'), common.Req()],
    fails: [common.Get('fails')],
    user: [common.Get('users/:id'), common.Param('id')],
  };
  for (const [name, [route, parameter]] of Object.entries(routes)) {
    route(Users.prototype, name, Object.getOwnPropertyDescriptor(Users.prototype, name));
    parameter?.(Users.prototype, name, 0);
    Reflect.defineMetadata('design:paramtypes', [Object], Users.prototype, name);
  }
  common.Controller()(Users);
  function App() {}
  common.Module({ controllers: [Users] })(App);
  const app = await NestFactory.create(App, adapter, { logger: false });
  await app.init();
  return app.getHttpServer();
}

const nestExpress = () => {
  const { ExpressAdapter } = require('@nestjs/platform-express');
  return nest(new ExpressAdapter(), (response) => response);
};

const nestFastify = async () => {
  const { FastifyAdapter } = require('@nestjs/platform-fastify');
  const adapter = new FastifyAdapter();
  const server = await nest(adapter, (reply) => reply.raw);
  await adapter.getInstance().ready();
  return server;
};

const hono = () => {
  const { Hono } = require('hono');
  const { getRequestListener, RESPONSE_ALREADY_SENT } = require('@hono/node-server');
  const app = new Hono();
  const sent =
    RESPONSE_ALREADY_SENT ?? new Response(null, { headers: { 'x-hono-already-sent': 'true' } });
  app.get('/quick', (context) => context.text('quick'));
  app.get('/pieces', (context) => {
    void pieces(context.env.outgoing);
    return sent;
  });
  app.get('/leave', (context) => {
    leave(context.env.outgoing);
    return sent;
  });
  app.post('/echo', async (context) => context.json(await context.req.json(), 201));
  app.get('/call', async (context) => context.json(await call(portOf(context.env.incoming))));
  app.get('/fails', () => {
    throw new Error('fails');
  });
  app.onError((_, context) => context.json('fails', 500));
  app.get('/users/:id', async (context) => {
    await later();
    context.header('x-user', 'a');
    return context.json(context.req.param());
  });
  return http.createServer(getRequestListener(app.fetch));
};

exports.frameworks = {
  'node:http': plain,
  // Agents know a package by the name of its folder, and one folder does not hold two versions.
  'Express 4': () => expressApp(require('../express-4/node_modules/express')),
  'Express 5': () => expressApp(require('express')),
  Fastify: fastify,
  Koa: koa,
  'Nest on Express': nestExpress,
  'Nest on Fastify': nestFastify,
  Hono: hono,
};
