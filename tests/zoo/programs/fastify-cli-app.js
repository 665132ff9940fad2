module.exports = async function app(fastify, options) {
  fastify.get('/', async () => ({ root: true }));
  fastify.get('/items/:id', async (request) => ({ id: request.params.id }));
  fastify.post('/items', async (request, reply) => reply.code(201).send(request.body));
};
