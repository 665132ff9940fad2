// The server of http-raw.js in two workers of node:cluster: on node:http, or on the engine (ENGINE=redline).
import cluster from 'node:cluster';

if (cluster.isPrimary) {
  cluster.fork();
  cluster.fork();
} else {
  await import('./http-raw.js');
}
