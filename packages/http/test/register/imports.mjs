// Every way to import an HTTP server, here and in a worker thread: prints what serves each.
import { once } from 'node:events';
import http, { createServer, Server } from 'node:http';
import * as all from 'http';
import { isMainThread, Worker, workerData } from 'node:worker_threads';

/** A connection that the engine serves has a socket of its own class. */
const answer = ({ socket }, response) => response.end(socket.constructor.name);

const seen = {};
const servers = {
  default: http.createServer(answer),
  named: createServer(answer),
  'named class': new Server(answer),
  namespace: all.createServer(answer),
};
for (const [name, server] of Object.entries(servers)) {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  seen[name] = await (await fetch(`http://127.0.0.1:${server.address().port}`)).text();
  server.close();
  server.closeAllConnections();
}

if (isMainThread) {
  const { port1, port2 } = new MessageChannel();
  const options = { workerData: port2, transferList: [port2] };
  new Worker(new URL(import.meta.url), options).unref();
  const [inWorker] = await once(port1, 'message');
  console.log(JSON.stringify({ ...seen, inWorker }));
} else {
  const port = workerData;
  port.postMessage(seen);
}
