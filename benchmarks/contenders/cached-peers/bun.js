// Products out of Redis in Bun, with its own client; lines are written 64 KiB at a time, and at least every second.
import process from 'node:process';
import { RedisClient } from 'bun';

const redis = new RedisClient(process.env.REDIS_URL);
await redis.connect();
const log = Bun.file(process.env.LOG).writer({ highWaterMark: 64 * 1024 });
setInterval(() => log.flush(), 1_000);
const headers = { 'Content-Type': 'application/json; charset=utf-8' };

Bun.serve({
  hostname: process.env.HOST,
  port: Number(process.env.PORT),
  routes: {
    '/products/:id': async (request) => {
      const start = performance.now();
      const { id } = request.params;
      const product = await redis.get(`product:${id}`);
      const status = product === null ? 404 : 200;
      const line = {
        level: 30,
        time: Date.now(),
        reqId: request.headers.get('x-request-id') ?? '',
        method: request.method,
        url: `/products/${id}`,
        statusCode: status,
        responseTime: performance.now() - start,
        msg: 'request completed',
      };
      log.write(`${JSON.stringify(line)}\n`);
      return new Response(product, { status, headers });
    },
  },
});
