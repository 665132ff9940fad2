import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDefer, defer, defineJob } from '@redline/defer';
import { expressDefer } from '@redline/defer/express';
import { fastifyDefer } from '@redline/defer/fastify';
import { handlers } from '@redline/defer/sinks/handlers';
import express from 'express';
import fastify from 'fastify';

const job = defineJob('job', { level: 'disk', when: 'success' });

async function main() {
  const directory = mkdtempSync(join(tmpdir(), 'redline-bundle-'));
  const done = [];
  const deferrer = createDefer({
    sinks: { work: handlers({ job: (data) => void done.push(data) }) },
    journal: { directory },
  });
  const app = fastify();
  await app.register(fastifyDefer, { deferrer });
  app.get('/', async () => defer(job, 'of Fastify') && 'deferred');
  const listening = express();
  listening.use(expressDefer(deferrer));
  listening.get('/', (request, response) => {
    defer(job, 'of Express');
    response.end('deferred');
  });
  const server = listening.listen(0, '127.0.0.1', async () => {
    await fetch(await app.listen({ port: 0, host: '127.0.0.1' }));
    await fetch(`http://127.0.0.1:${server.address().port}/`);
    const files = readdirSync(directory).length;
    await deferrer.close();
    rmSync(directory, { recursive: true });
    console.log(JSON.stringify({ result: `${done.toSorted()}; journal: ${files > 0}` }));
    process.exit();
  });
}

main();
