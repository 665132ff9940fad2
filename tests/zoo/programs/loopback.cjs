// After the README of @loopback/rest.
const { RestApplication } = require('@loopback/rest');

async function main() {
  const app = new RestApplication({ rest: { port: Number(process.env.PORT), host: '127.0.0.1' } });
  app.route('get', '/hello', { responses: { 200: { description: 'hello' } } }, () => 'hello world');
  app.route(
    'get',
    '/items/{id}',
    { parameters: [{ name: 'id', in: 'path', schema: { type: 'integer' } }], responses: {} },
    (id) => ({ id }),
  );
  app.route(
    'post',
    '/items',
    {
      requestBody: {
        content: {
          'application/json': {
            schema: {
              type: 'object',
              required: ['name'],
              properties: { name: { type: 'string' } },
            },
          },
        },
      },
      responses: {},
    },
    (item) => item,
  );
  await app.start();
}
main();
