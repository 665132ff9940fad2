// The whole server once for each core. Nothing in memory is shared between them.
import { spawn } from 'node:child_process';
import cluster from 'node:cluster';
import http from 'node:http';
import { availableParallelism } from 'node:os';
import { command, host, port } from './workload.js';

if (cluster.isPrimary) {
  for (let i = 0; i < availableParallelism(); i++) cluster.fork();
} else {
  http
    .createServer((_request, response) => {
      const { stdout } = spawn(...command);
      stdout.pipe(response);
      // A client that goes away must not leave a child behind that waits for a reader.
      response.on('close', () => stdout.destroy());
    })
    .listen(port, host);
}
