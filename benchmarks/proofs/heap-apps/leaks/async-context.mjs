// A reminder in an hour keeps the whole context of its request.
import { AsyncLocalStorage } from 'node:async_hooks';
import { createServer } from 'node:http';

const context = new AsyncLocalStorage();
let reminded = 0;

function remind() {
  reminded++;
}

function work(response) {
  setTimeout(remind, 3_600_000).unref(); // leaks here
  response.end(`${context.getStore().id} ${reminded}`);
}

createServer((request, response) => {
  const store = { id: `request ${Math.random()}`, url: request.url, log: [`began ${Date.now()}`] };
  context.run(store, work, response);
}).listen(process.env.PORT, '127.0.0.1');
