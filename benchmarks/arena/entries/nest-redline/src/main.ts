// One thread for each core, as the guide to deployment says; all of them listen on one port.
import { availableParallelism } from 'node:os';
import { runThreads } from '@redline/http';

runThreads(
  Number(process.env['THREADS'] ?? availableParallelism()),
  new URL('server.js', import.meta.url),
);
