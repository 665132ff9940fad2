// Output through process.send as it comes; with serialization 'advanced' bytes stay bytes. Node only, as in the article.
import { fork } from 'node:child_process';
import { EventEmitter } from 'node:events';
import http from 'node:http';
import { fileURLToPath } from 'node:url';
import { pickWorker } from '../pick-worker.js';
import { command, host, port } from '../workload.js';

const workers = Array.from({ length: 8 }, () => {
  const child = fork(fileURLToPath(new URL('./worker.js', import.meta.url)), {
    serialization: 'advanced',
  });
  const answers = new EventEmitter();
  child.on('message', ([id, ...message]) => answers.emit(id, ...message));
  return { child, answers, requests: 0 };
});
let lastId = 0;

function spawnInWorker(response) {
  const worker = pickWorker(workers);
  const id = String((lastId += 1));
  worker.requests += 1;
  worker.answers.on(id, (kind, data) => {
    if (kind === 'stdout') response.write(data);
    if (kind === 'exit') {
      response.end();
      worker.requests -= 1;
      worker.answers.removeAllListeners(id);
    }
  });
  worker.child.send([id, ...command.flat()]);
}

http.createServer((_request, response) => spawnInWorker(response)).listen(port, host);
