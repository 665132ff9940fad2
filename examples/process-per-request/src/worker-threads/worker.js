import { execFile } from 'node:child_process';
import { parentPort } from 'node:worker_threads';

parentPort.on('message', ([id, program, ...args]) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  execFile(program, args, (_error, stdout) => parentPort.postMessage([id, stdout]));
});
