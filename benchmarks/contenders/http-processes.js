// The server of http-raw.js on two cores: two workers of node:cluster, or two threads of the engine (ENGINE=redline).
import cluster from 'node:cluster';
import process from 'node:process';

const count = 2;
const server = new URL('http-raw.js', import.meta.url);

if (process.env.ENGINE === 'redline') {
  const { runThreads } = await import('@redline/http');
  runThreads(count, server);
} else if (cluster.isPrimary) {
  for (let i = 0; i < count; i++) cluster.fork();
} else {
  await import(server.href);
}
