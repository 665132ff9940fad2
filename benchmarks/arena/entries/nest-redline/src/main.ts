// One thread per core, as in the deployment guide; all of them listen on one port.
import { availableParallelism } from 'node:os';
import { runThreads } from '@redline/http';

runThreads(
  Number(process.env['THREADS'] ?? availableParallelism()),
  new URL('server.js', import.meta.url),
);
