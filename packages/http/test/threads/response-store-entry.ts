import { threadId, workerData } from 'node:worker_threads';
import { responseStoreOf, createServer } from '../../src/index.ts';

const { port } = workerData as { port: number };

// Each thread sends its own text, which tells the client the thread of a response.
const server = createServer((request, response) => {
  const store = responseStoreOf(server)!;
  const { url } = request;
  if (url === '/keep') {
    const kept = store.keep('/kept', { body: `kept by ${threadId}`, freshMs: 600_000 });
    response.end(`${kept} ${threadId}`);
  } else if (url === '/drop') {
    store.drop('/kept');
    response.end(`${threadId}`);
  } else if (url === '/stats') {
    response.end(JSON.stringify(store.stats()));
  } else if (url === '/die') {
    response.end(`${threadId}`);
    setImmediate(() => {
      throw new Error('as asked');
    });
  } else {
    response.end(`made by ${threadId}`);
  }
});
await new Promise<void>((resolve) => {
  server.listen(port, '127.0.0.1', resolve);
});
