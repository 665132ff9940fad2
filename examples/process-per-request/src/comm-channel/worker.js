import { spawn } from 'node:child_process';
import net from 'node:net';
import process from 'node:process';
import { frame, stderr, stdout, stdoutClose } from './frames.js';

const socket = net.connect({ path: `\0${process.argv[2]}` });

process.on('message', ([id, program, ...args]) => {
  const child = spawn(program, args);
  child.stdout.on('data', (data) => socket.write(frame(id, stdout, data)));
  child.stderr.on('data', (data) => socket.write(frame(id, stderr, data)));
  child.on('close', () => socket.write(frame(id, stdoutClose)));
});

// Node ends by itself then, Deno does not.
process.on('disconnect', () => process.exit());
