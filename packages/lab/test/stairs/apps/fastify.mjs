/* oxlint-disable unicorn/no-unnecessary-await */
import Fastify from 'fastify';

const app = Fastify();
app.addHook('onRequest', function identify(request, reply, done) {
  request.userId = 7;
  done();
});
app.addHook('preHandler', async function limit() {
  await null;
});
app.register(async (scope) => {
  scope.addHook('onSend', async function stamp(request, reply, payload) {
    return payload;
  });
  scope.get(
    '/feed',
    {
      preHandler: [
        (request, reply, done) => {
          verify(request);
          done();
        },
      ],
      schema: {
        response: {
          200: {
            type: 'object',
            properties: { items: { type: 'array', items: { type: 'number' } } },
          },
        },
      },
    },
    async function feed() {
      return { items: load() };
    },
  );
});

function verify(request) {
  return request.userId === 7;
}

function load() {
  return [1, 2, 3];
}

await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
