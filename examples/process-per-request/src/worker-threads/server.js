// Spawns moved to 8 worker threads. Forks of one process wait for each other all the same.
import { EventEmitter } from 'node:events';
import http from 'node:http';
import { Worker } from 'node:worker_threads';
import { pickWorker } from '../pick-worker.js';
import { command, host, port } from '../workload.js';

const workers = Array.from({ length: 8 }, () => {
  const thread = new Worker(new URL('./worker.js', import.meta.url));
  const answers = new EventEmitter();
  thread.on('message', ([id, output]) => answers.emit(id, output));
  return { thread, answers, requests: 0 };
});
let lastId = 0;

function spawnInWorker() {
  const worker = pickWorker(workers);
  const id = String((lastId += 1));
  worker.requests += 1;
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  worker.thread.postMessage([id, ...command.flat()]);
  return new Promise((resolve) => {
    worker.answers.once(id, (output) => {
      worker.requests -= 1;
      resolve(output);
    });
  });
}

http
  .createServer(async (_request, response) => response.end(await spawnInWorker()))
  .listen(port, host);
