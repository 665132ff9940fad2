// Spawns moved to 8 child processes, each answer one JSON message. RUNTIME=bun: Node here, Bun in the workers.
import { fork } from 'node:child_process';
import { EventEmitter } from 'node:events';
import http from 'node:http';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { pickWorker } from '../pick-worker.js';
import { command, host, port } from '../workload.js';

const workers = Array.from({ length: 8 }, () => {
  const child = fork(fileURLToPath(new URL('./worker.js', import.meta.url)), {
    execPath: process.env.RUNTIME ?? process.execPath,
  });
  const answers = new EventEmitter();
  child.on('message', ([id, output]) => answers.emit(id, output));
  return { child, answers, requests: 0 };
});
let lastId = 0;

function spawnInWorker() {
  const worker = pickWorker(workers);
  const id = String((lastId += 1));
  worker.requests += 1;
  worker.child.send([id, ...command.flat()]);
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
