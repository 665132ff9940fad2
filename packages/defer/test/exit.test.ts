// An orderly end in the middle of requests: with a journal, what clients have an answer for is done by the next life.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { createDefer } from '../src/create-defer.ts';
import { handlers } from '../src/sinks/handlers.ts';
import { until } from '@redline/services/until';
import { temporaryFolder } from './harness.ts';

const source = (file: string): string => JSON.stringify(join(import.meta.dirname, '../src', file));

/* Both frameworks give the handler Node's own response. */
const frameworks: Readonly<Record<string, string>> = {
  express: `
    const [{ default: express }, { expressDefer }] = await Promise.all([import('express'), import(${source('adapters/express.ts')})]);
    const app = express();
    app.use(expressDefer(deferrer));
    for (const [path, handle] of Object.entries(routes)) app.get(path, (_, response) => handle(response));
    const server = app.listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    process.send(server.address().port);`,
  fastify: `
    const [{ fastify }, { fastifyDefer }] = await Promise.all([import('fastify'), import(${source('adapters/fastify.ts')})]);
    const app = fastify();
    await app.register(fastifyDefer, { deferrer });
    for (const [path, handle] of Object.entries(routes)) app.get(path, (_, reply) => {
      reply.hijack();
      handle(reply.raw);
    });
    await app.listen({ port: 0, host: '127.0.0.1' });
    process.send(app.server.address().port);`,
};

for (const [framework, listen] of Object.entries(frameworks)) {
  test(`on ${framework}, process.exit() keeps jobs of level memory whose requests have not ended`, async (t) => {
    const directory = temporaryFolder(t);
    const program = `
      const [{ createDefer, defer, defineJob }, { handlers }] = await Promise.all([import(${source('index.ts')}), import(${source('sinks/handlers.ts')})]);
      const note = defineJob('note');
      const deferrer = createDefer({ sinks: { work: handlers({ note() {} }) }, journal: { directory: ${JSON.stringify(directory)} }, logger: false });
      const routes = {
        '/stream': (response) => {
          defer(note, 'streaming');
          defer(note, 'streamed', { when: 'success' });
          response.write('first');
        },
        '/exit': (response) => {
          defer(note, 'answered');
          defer(note, 'succeeded', { when: 'success' });
          defer(note, 'gone away', { when: 'aborted' });
          response.end('bye');
          process.exit();
        },
      };
      ${listen}
    `;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      cwd: import.meta.dirname,
    });
    const exited = once(child, 'exit');
    const [port] = await once(child, 'message');
    const url = `http://127.0.0.1:${port}`;
    const stream = await fetch(`${url}/stream`);
    assert.equal(stream.status, 200);
    await stream.body!.getReader().read();
    assert.equal((await fetch(`${url}/exit`)).status, 200);
    await exited;
    const done: string[] = [];
    const next = createDefer({
      sinks: { work: handlers({ note: (what: string) => void done.push(what) }) },
      journal: { directory },
      handleSignals: false,
      logger: false,
    });
    t.after(() => next.close());
    await next.ready();
    await until('the jobs', () => next.queues.get('work')!.depth === 0);
    assert.deepEqual(done.toSorted(), ['answered', 'streaming', 'succeeded']);
  });
}
