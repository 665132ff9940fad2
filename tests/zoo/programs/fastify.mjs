import Fastify from 'fastify';

const app = Fastify();
app.get('/', () => ({ hello: 'world' }));
app.get('/items/:id', {
  schema: { response: { 200: { type: 'object', properties: { id: { type: 'string' } } } } },
  handler: (request) => ({ id: request.params.id, hidden: true }),
});
app.get('/old', (request, reply) => reply.redirect('/', 308));
app.get('/fail', () => {
  throw new Error('failed');
});
app.post('/items', {
  schema: {
    body: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
  },
  handler: (request, reply) => reply.code(201).send(request.body),
});

async function* chunks() {
  for (let count = 0; count < 50; count++) yield `line ${count}\n`;
}
const { Readable } = await import('node:stream');
app.addHook('preSerialization', async (request, reply, payload) => payload);
app.get('/readable', (request, reply) => reply.type('text/plain').send(Readable.from(chunks())));
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => app.close());
await app.listen({ port: Number(process.env.PORT) });
