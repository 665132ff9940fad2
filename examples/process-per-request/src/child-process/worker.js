import { execFile } from 'node:child_process';
import process from 'node:process';

process.on('message', ([id, program, ...args]) => {
  execFile(program, args, (_error, stdout) => process.send([id, stdout]));
});

// Node ends by itself then, Deno does not.
process.on('disconnect', () => process.exit());
