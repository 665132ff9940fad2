import '@redline/child-process/register';
import { execFile } from 'node:child_process';
import { engine } from '@redline/child-process';

execFile('/bin/echo', ['a child'], (error, stdout) => {
  const besides = String(execFile).includes('normalizeExecFileArgs') ? "Node's" : "the engine's";
  console.log(
    JSON.stringify({ result: error?.message ?? stdout.trim(), besides, engine: engine() }),
  );
});
