// Commands over process.send, output over one abstract Unix socket for each of 8 workers.
// BUFFER=string gathers each answer as a string first (the article's bug that made Deno faster).
// RUNTIME=bun: Node here, Bun in the workers.
import { fork } from 'node:child_process';
import { EventEmitter } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { pickWorker } from '../pick-worker.js';
import { command, host, port } from '../workload.js';
import { readFrames, stdout, stdoutClose } from './frames.js';

const isBuffered = process.env.BUFFER === 'string';
let lastId = 0;

const workers = await Promise.all(Array.from({ length: 8 }, (_, number) => startWorker(number)));

function startWorker(number) {
  // The zero byte makes the name abstract: no file, and gone with its last user.
  const name = `process-per-request-${process.pid}-${number}`;
  const answers = new EventEmitter();
  return new Promise((resolve) => {
    const server = net.createServer((socket) => {
      server.close();
      readFrames(socket, (id, kind, data) => answers.emit(id, kind, data));
      resolve({ child, answers, requests: 0 });
    });
    server.listen({ path: `\0${name}` });
    const child = fork(fileURLToPath(new URL('./worker.js', import.meta.url)), [name], {
      execPath: process.env.RUNTIME ?? process.execPath,
    });
  });
}

function spawnInWorker(response) {
  const worker = pickWorker(workers);
  const id = (lastId += 1);
  let text = '';
  worker.requests += 1;
  worker.answers.on(id, (kind, data) => {
    if (kind === stdout) {
      if (isBuffered) text += data.toString();
      else response.write(data);
    }
    if (kind === stdoutClose) {
      response.end(text);
      worker.requests -= 1;
      worker.answers.removeAllListeners(id);
    }
  });
  worker.child.send([id, ...command.flat()]);
}

http.createServer((_request, response) => spawnInWorker(response)).listen(port, host);
