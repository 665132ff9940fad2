import { serve } from '@hono/node-server';
import { serveStatic } from '@hono/node-server/serve-static';
import { Hono } from 'hono';
import { compress } from 'hono/compress';
import { etag } from 'hono/etag';
import { streamSSE } from 'hono/streaming';

const app = new Hono();
app.use('/tagged', etag());
app.use('/long', compress());
app.get('/', (c) => c.text('Hello Hono!'));
app.get('/json', (c) => c.json({ hello: 'world' }));
app.get('/tagged', (c) => c.text('tagged'));
app.get('/long', (c) => c.text('long '.repeat(1_000)));
app.get('/old', (c) => c.redirect('/json'));
app.get('/events', (c) =>
  streamSSE(c, async (stream) => {
    for (let id = 0; id < 3; id++) await stream.writeSSE({ data: `${id}`, id: `${id}` });
  }),
);
app.post('/json', async (c) => c.json(await c.req.json(), 201));
app.post('/form', async (c) => {
  const { title, file } = await c.req.parseBody();
  return c.json({ title, size: file?.size ?? 0 });
});
app.get('/files/*', serveStatic({ root: '../site', rewriteRequestPath: (path) => path.slice(6) }));
const server = serve({ fetch: app.fetch, port: Number(process.env.PORT) });
for (const signal of ['SIGTERM', 'SIGINT']) {
  process.once(signal, () => server.close(() => process.exit(0)));
}
