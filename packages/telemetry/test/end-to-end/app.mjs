// An app of the framework that its first argument names, on a free port that it prints. Its routes are those of the tests.
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { metrics, trace } from '@opentelemetry/api';

const require = createRequire(import.meta.url);
const tracer = trace.getTracer('app', '1.0');
const orders = metrics.getMeter('app').createCounter('app.orders');

function work() {
  return tracer.startActiveSpan('work', { attributes: { step: 1 } }, (span) => {
    orders.add(1, { kind: 'book' });
    span.end();
    return trace.getActiveSpan()?.spanContext();
  });
}

const frameworks = {
  node() {
    return createServer((request, response) => {
      if (request.url === '/never') return;
      request.resume().on('end', () => response.end(JSON.stringify(work() ?? null)));
    });
  },
  express() {
    const express = require('express');
    const app = express();
    const router = express.Router();
    router.get('/items/:item', (_, response) => {
      setImmediate(() => response.json(work()));
    });
    router.get('/broken', () => {
      throw new Error('broken');
    });
    app.use('/api/:version', router);
    app.use((error, _request, response, _next) => response.status(500).end());
    return createServer(app);
  },
  async fastify() {
    const app = require('fastify')();
    app.get('/api/:version/items/:item', async () => work());
    app.get('/api/:version/broken', async () => {
      throw new Error('broken');
    });
    await app.ready();
    return app.server;
  },
};

const server = await frameworks[process.argv[2]]();
server.listen(0, '127.0.0.1', async () => {
  const { engine } = await import('@redline/http').catch(() => ({}));
  console.log(JSON.stringify({ port: server.address().port, engine: engine?.(server).name }));
});
process.on('message', () => process.disconnect());
process.on('disconnect', () => server.close());
