// A server of one framework (its first argument) with a JSON route, below the tracer that TRACER names. With CHILD_SPANS=n the
// handler makes so many spans by the OpenTelemetry API, one after the other.
const { once } = require('node:events');

const { CHILD_SPANS = '0', HOST, PORT, PRODUCT = '{}', TRACER } = process.env;
const product = JSON.parse(PRODUCT);
const children = Number(CHILD_SPANS);

function find() {
  if (children > 0) {
    const tracer = require('@opentelemetry/api').trace.getTracer('shop');
    for (let n = 0; n < children; n++) {
      tracer.startActiveSpan(
        'query',
        { attributes: { 'db.system.name': 'postgresql' } },
        (span) => {
          span.setAttribute('db.query.text', 'SELECT * FROM products WHERE id = $1');
          span.end();
        },
      );
    }
  }
  return product;
}

const frameworks = {
  async express() {
    const app = require('express')();
    if (TRACER === 'prometheus') {
      const { observe, page } = prometheus();
      app.use((request, response, next) => {
        const startedAt = performance.now();
        response.on('finish', () => {
          observe(request.method, request.route?.path ?? '', response.statusCode, startedAt);
        });
        next();
      });
      app.get('/metrics', (request, response, next) => {
        page().then((text) => response.type('text').send(text), next);
      });
    }
    app.get('/', (request, response) => response.json(find()));
    return app.listen(PORT, HOST);
  },

  async fastify() {
    const app = require('fastify')();
    if (TRACER === 'prometheus') {
      const { observe, page } = prometheus();
      app.addHook('onRequest', async (request) => {
        request.startedAt = performance.now();
      });
      app.addHook('onResponse', async (request, reply) => {
        observe(
          request.method,
          request.routeOptions.url ?? '',
          reply.statusCode,
          request.startedAt,
        );
      });
      app.get('/metrics', () => page());
    }
    app.get('/', async () => find());
    await app.listen({ port: Number(PORT), host: HOST });
    return app.server;
  },
};

/** A histogram of durations by method, route and status, as the guides of prom-client have it. */
function prometheus() {
  const { Histogram, register } = require('prom-client');
  const histogram = new Histogram({
    name: 'http_server_request_duration_seconds',
    help: 'Duration of HTTP requests',
    labelNames: ['method', 'route', 'status'],
  });
  return {
    observe: (method, route, status, startedAt) =>
      histogram.observe({ method, route, status }, (performance.now() - startedAt) / 1_000),
    page: () => register.metrics(),
  };
}

async function start() {
  const server = await frameworks[process.argv[2]]();
  if (!process.execArgv.some((option) => option.includes('@redline/http/register'))) return;
  const { engine } = await import('@redline/http');
  if (!server.listening) await once(server, 'listening');
  const served = engine(server);
  // It would be measured under the engine's name.
  if (served.name !== 'native') throw new Error(`Node serves it: ${served.reason}`);
}

void start();
