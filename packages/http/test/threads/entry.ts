import { threadId, workerData } from 'node:worker_threads';
import { createServer } from '../../src/index.ts';

const { port } = workerData as { port: number };

const server = createServer((request, response) => {
  if (request.url === '/die') {
    response.end('dying');
    setImmediate(() => {
      throw new Error('as asked');
    });
  } else if (request.url === '/slow') {
    response.write('begun');
    setTimeout(() => response.end(' and ended'), 200);
  } else if (request.url === '/later') {
    setTimeout(() => response.end('later'), 20);
  } else {
    response.end(String(threadId));
  }
});
await new Promise<void>((resolve) => {
  server.listen(port, '127.0.0.1', resolve);
});
