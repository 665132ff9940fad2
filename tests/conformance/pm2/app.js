// An application that knows nothing of the engine: each response says which process gave it, a few ms later.
const cluster = require('node:cluster');
const { createServer } = require('node:http');

let engine = 'node';
const server = createServer((_, response) => {
  setTimeout(() => response.end(JSON.stringify({ pid: process.pid, engine })), 5);
});
server.listen(Number(process.env.PORT), '127.0.0.1', () => {
  const servedBy = server[Symbol.for('redline.http.servedBy')];
  if (servedBy !== undefined) engine = servedBy.call(server).name;
});
// It leaves the cluster before it ends. With `server.close(() => process.exit())` a connection that the primary is handing over is
// lost, of Node's own server, too.
process.on('SIGINT', () => cluster.worker.disconnect());
process.on('disconnect', () => process.exit());
