// A context for each request, in which every await settles.
import { AsyncLocalStorage } from 'node:async_hooks';
import { createServer } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';

const context = new AsyncLocalStorage();

async function work() {
  await turn();
  return context.getStore().id;
}

createServer((request, response) => {
  const store = { id: `request ${Math.random()}`, url: request.url };
  context.run(store, async () => response.end(await work()));
}).listen(process.env.PORT, '127.0.0.1');
