// Prints what serves a server in a worker of node:cluster, under the scheduling policy of its argument.
import cluster from 'node:cluster';
import { createServer, engine } from '../../src/index.ts';

if (cluster.isPrimary) {
  cluster.schedulingPolicy = process.argv[2] === 'none' ? cluster.SCHED_NONE : cluster.SCHED_RR;
  cluster.fork().on('message', (told) => {
    console.log(JSON.stringify(told));
    process.exit();
  });
} else {
  const server = createServer();
  server.listen(0, '127.0.0.1', () => process.send!(engine(server)));
}
