import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { type Described, describedRequests } from '../../../src/try/apis/described.ts';
import { queriesIn } from '../../../src/try/apis/graphql.ts';
import { openApiRequests } from '../../../src/try/apis/openapi.ts';

const named = (kind: string, name: string): object => ({ kind, name, ofType: null });
const listOf = (type: object): object => ({ kind: 'LIST', name: null, ofType: type });
const required = (type: object): object => ({ kind: 'NON_NULL', name: null, ofType: type });
const field = (name: string, type: object, args: object[] = []): object => ({ name, type, args });
const id = { name: 'id', defaultValue: null, type: { kind: 'NON_NULL' } };
const schema = {
  queryType: { name: 'Query' },
  types: [
    {
      kind: 'OBJECT',
      name: 'Query',
      fields: [
        field('users', required(listOf(required(named('OBJECT', 'User'))))),
        field('user', named('OBJECT', 'User'), [id]),
        field('version', named('SCALAR', 'String')),
        field('deleteAll', named('SCALAR', 'Boolean')),
        field('search', listOf(named('UNION', 'Found'))),
      ],
    },
    {
      kind: 'OBJECT',
      name: 'User',
      fields: [
        field('id', required(named('SCALAR', 'ID'))),
        field('posts', listOf(named('OBJECT', 'Post'))),
        field('post', named('OBJECT', 'Post'), [id]),
      ],
    },
    {
      kind: 'OBJECT',
      name: 'Post',
      fields: [field('title', named('SCALAR', 'String')), field('author', named('OBJECT', 'User'))],
    },
    { kind: 'UNION', name: 'Found', fields: null },
  ],
};

describe('an app that describes itself', () => {
  test('by GraphQL is asked for fields of its schema that need no argument and change nothing', () => {
    const body = Buffer.from(JSON.stringify({ data: { __schema: schema } }));
    assert.deepEqual(queriesIn(body), [
      '{users{id posts{title}}}',
      '{version}',
      '{search{__typename}}',
    ]);
    assert.deepEqual(queriesIn(Buffer.from('{"errors":[]}')), []);
  });

  test('by OpenAPI is asked for GET operations, with examples and defaults for parameters', () => {
    const parameter = (name: string, more: object, place = 'query'): object => ({
      name,
      in: place,
      ...more,
    });
    const description = {
      openapi: '3.0.0',
      servers: [{ url: 'https://api.example/v1/' }],
      components: { parameters: { Id: parameter('id', { example: 7 }, 'path') } },
      paths: {
        '/users': { get: {}, post: {} },
        '/users/{id}': { get: { parameters: [{ $ref: '#/components/parameters/Id' }] } },
        '/orders/{order}': { get: { parameters: [parameter('order', {}, 'path')] } },
        '/find': {
          get: { parameters: [parameter('q', { required: true, schema: { default: 'a b' } })] },
        },
        '/admin/delete-all': { get: {} },
        '/upload': { post: {} },
      },
    };
    const requests = openApiRequests(Buffer.from(JSON.stringify(description)), { a: 'b' });
    assert.deepEqual(
      requests?.map(({ path, headers }) => [path, headers]),
      [
        ['/v1/users', { a: 'b' }],
        ['/v1/users/7', { a: 'b' }],
        ['/v1/find?q=a+b', { a: 'b' }],
      ],
    );
    assert.equal(openApiRequests(Buffer.from('{"paths":{}}'), {}), undefined);
    assert.equal(openApiRequests(Buffer.from('<html>'), {}), undefined);
  });

  test('is found at the places where frameworks put it', async (t) => {
    const nest = { openapi: '3.1.0', paths: { '/cats': { get: {} } } };
    const byNest = await described(t, (method, url) =>
      method === 'GET' && url === '/api-json' ? nest : undefined,
    );
    assert.deepEqual(
      [byNest?.by, byNest?.requests.map(({ path }) => path)],
      ['GET /api-json', ['/cats']],
    );
    const hidden = await described(t, (method, url, body) => {
      if (method !== 'POST' || url !== '/graphql') return undefined;
      return body.includes('__schema') ? { errors: [] } : { data: { __typename: 'Query' } };
    });
    assert.deepEqual(
      hidden?.requests.map(({ method, path, body }) => `${method} ${path} ${body}`),
      ['POST /graphql {"query":"{__typename}"}'],
    );
    assert.equal(await described(t, () => undefined), undefined);
  });
});

async function described(
  context: TestContext,
  answer: (method: string, url: string, body: string) => object | undefined,
): Promise<Described | undefined> {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const found = answer(request.method!, request.url!, body);
      response.statusCode = found === undefined ? 404 : 200;
      response.end(JSON.stringify(found ?? {}));
    });
  }).listen(0, '127.0.0.1');
  context.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return describedRequests({ host: '127.0.0.1', port }, {}, new AbortController().signal);
}
