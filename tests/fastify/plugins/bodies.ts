import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { ask, load, type Application } from '../application.ts';

const fixtures = join(import.meta.dirname, '../fixtures');

export const bodies: Record<string, Application> = {
  '@fastify/formbody': async (app) => {
    await app.register(load('@fastify/formbody'));
    app.post('/', (request) => request.body);
    return (base) => ask(base, { method: 'POST', body: new URLSearchParams('a=1&b=two&a=3') });
  },
  '@fastify/multipart': async (app) => {
    await app.register(load('@fastify/multipart'), { limits: { fileSize: 1_000_000 } });
    // oxlint-disable-next-line oxc/no-async-endpoint-handlers -- Fastify's handlers are.
    app.post('/', async (request) => {
      const parts: unknown[] = [];
      for await (const part of (request as never as { parts: () => AsyncIterable<Part> }).parts()) {
        if (part.type === 'file') {
          let size = 0;
          for await (const chunk of part.file!) size += (chunk as Buffer).length;
          parts.push([part.fieldname, part.filename, part.mimetype, size]);
        } else parts.push([part.fieldname, part.value]);
      }
      return parts;
    });
    return async (base) => {
      const form = new FormData();
      form.append('title', 'a form');
      form.append('small', new Blob(['x'.repeat(10)]), 'small.txt');
      form.append('large', new Blob([Buffer.alloc(900_000)]), 'large.bin');
      const over = new FormData();
      over.append('large', new Blob([Buffer.alloc(1_100_000)]), 'over.bin');
      return [
        await ask(base, { method: 'POST', body: form }),
        (await ask(base, { method: 'POST', body: over })).status,
      ];
    };
  },
  '@fastify/static': async (app) => {
    await app.register(load('@fastify/static'), { root: fixtures, prefix: '/files/' });
    return async (base) => {
      const whole = await ask(`${base}/files/page.txt`);
      const { etag } = whole.headers;
      const modified = (answer: Awaited<ReturnType<typeof ask>>) => answer;
      return [
        whole,
        modified(await ask(`${base}/files/page.txt`, { headers: { 'If-None-Match': etag! } })),
        await ask(`${base}/files/page.txt`, { headers: { Range: 'bytes=2-7' } }),
        await ask(`${base}/files/page.txt`, { headers: { Range: 'bytes=900-' } }),
        await ask(`${base}/files/page.txt`, { method: 'HEAD' }),
        await ask(`${base}/files/none.txt`),
        await ask(`${base}/files/..%2fpackage.json`),
      ];
    };
  },
  '@fastify/compress': async (app) => {
    await app.register(load('@fastify/compress'), { threshold: 100 });
    app.get('/', (_, reply) => reply.type('text/plain').send('compress me '.repeat(1_000)));
    app.get('/small', () => 'small');
    app.post('/', (request) => request.body);
    return async (base) => {
      const gzip = await fetch(base, { headers: { 'Accept-Encoding': 'gzip' } });
      const packed = await fetch(base, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' },
        body: gzipSync('{"packed":true}'),
      });
      return [
        [gzip.headers.get('content-encoding'), (await gzip.text()).length],
        await ask(base, { headers: { 'Accept-Encoding': 'identity' } }),
        (await ask(base, { headers: { 'Accept-Encoding': 'br' } })).body.length,
        await ask(`${base}/small`),
        await packed.json(),
        typeof gunzipSync,
      ];
    };
  },
  '@fastify/etag': async (app) => {
    await app.register(load('@fastify/etag'));
    app.get('/', () => ({ hello: 'world' }));
    return async (base) => {
      const first = await ask(base);
      return [first, await ask(base, { headers: { 'If-None-Match': first.headers['etag']! } })];
    };
  },
  '@fastify/view': async (app) => {
    await app.register(load('@fastify/view'), { engine: { ejs: load('ejs') }, root: fixtures });
    app.get('/', (_, reply) =>
      (reply as never as { view: (file: string, data: object) => unknown }).view('hello.ejs', {
        name: 'view',
      }),
    );
    return (base) => ask(base);
  },
};

interface Part {
  type: 'file' | 'field';
  fieldname: string;
  filename?: string;
  mimetype?: string;
  value?: unknown;
  file?: AsyncIterable<unknown>;
}
