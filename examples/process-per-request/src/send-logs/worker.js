import { spawn } from 'node:child_process';
import process from 'node:process';

process.on('message', ([id, program, ...args]) => {
  const child = spawn(program, args);
  child.stdout.on('data', (data) => process.send([id, 'stdout', data]));
  child.stderr.on('data', (data) => process.send([id, 'stderr', data]));
  child.on('close', (code, signal) => process.send([id, 'exit', code, signal]));
});

// Node ends by itself then, Deno does not.
process.on('disconnect', () => process.exit());
