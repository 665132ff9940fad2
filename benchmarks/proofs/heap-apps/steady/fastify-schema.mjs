import fastify from 'fastify';

const app = fastify();
const schema = {
  response: {
    200: { type: 'object', properties: { id: { type: 'string' }, at: { type: 'number' } } },
  },
};
app.get('/', { schema }, async () => ({ id: String(Math.random()), at: Date.now() }));
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
