import { runThreads } from '../../src/index.ts';

const port = Number(process.argv[2]);
const threads = runThreads(2, new URL('entry.ts', import.meta.url), { workerData: { port } });
await threads.started;
process.stdout.write('started\n');
