import Hapi from '@hapi/hapi';
import Inert from '@hapi/inert';

const server = Hapi.server({
  port: process.env.PORT,
  host: '127.0.0.1',
  routes: { files: { relativeTo: process.env.SITE } },
});
await server.register(Inert);
server.state('a', { isSecure: false });
server.route([
  { method: 'GET', path: '/', handler: () => 'Hello World!' },
  { method: 'GET', path: '/json', handler: () => ({ hello: 'world' }) },
  { method: 'GET', path: '/long', handler: () => 'long '.repeat(1_000) },
  { method: 'GET', path: '/old', handler: (request, h) => h.redirect('/json') },
  { method: 'GET', path: '/tagged', handler: (request, h) => h.response('tagged').etag('abc') },
  { method: 'GET', path: '/cookie', handler: (request, h) => h.response('set').state('a', 'b') },
  {
    method: 'GET',
    path: '/fail',
    handler: () => {
      throw new Error('failed');
    },
  },
  {
    method: 'POST',
    path: '/items',
    handler: (request, h) => h.response(request.payload).code(201),
  },
  {
    method: 'POST',
    path: '/upload',
    options: { payload: { multipart: true, output: 'data', maxBytes: 50_000 } },
    handler: ({ payload }) => ({ title: payload.title, size: payload.file.length }),
  },
  { method: 'GET', path: '/files/{path*}', handler: { directory: { path: '.', listing: true } } },
]);
for (const signal of ['SIGTERM', 'SIGINT'])
  process.once(signal, () => server.stop({ timeout: 1_000 }).then(() => process.exit(0)));
await server.start();
