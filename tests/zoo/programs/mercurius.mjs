import Fastify from 'fastify';
import mercurius from 'mercurius';

const app = Fastify();
app.register(mercurius, {
  schema: `type Query { add(x: Int, y: Int): Int }`,
  resolvers: { Query: { add: async (_, { x, y }) => x + y } },
  graphiql: true,
});
app.get('/', (request, reply) => reply.graphql('{ add(x: 2, y: 2) }'));
await app.listen({ port: Number(process.env.PORT) });
