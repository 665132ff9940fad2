import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

  test('by JSON-RPC is asked for methods of its list that read and need nothing', async (t) => {
    const methods = [
      { name: 'users.list', params: [] },
      { name: 'getUser', params: [{ name: 'id', required: true }] },
      { name: 'listRates', params: [{ name: 'day', required: false }] },
      { name: 'users.deleteAll' },
      { name: 'transfer' },
    ];
    const results: Record<string, unknown> = { 'rpc.discover': { openrpc: '1.3.2', methods } };
    const found = await described(t, (method, url, body) => {
      if (method !== 'POST' || url !== '/rpc') return undefined;
      const { method: name } = JSON.parse(body) as { method: string };
      const result = results[name];
      return result === undefined ? undefined : { jsonrpc: '2.0', id: 1, result };
    });
    assert.deepEqual(
      [
        found?.by,
        found?.requests.map(({ body }) => (JSON.parse(body) as { method: string }).method),
      ],
      ['JSON-RPC at /rpc', ['users.list', 'listRates', 'rpc.discover']],
    );
  });

  test('by tRPC is asked for queries in its code, with GET, which runs nothing else', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'redline-trpc-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    mkdirSync(join(folder, 'src'));
    writeFileSync(
      join(folder, 'src/router.ts'),
      `import { initTRPC } from '@trpc/server';
      const { router, procedure: publicProcedure } = initTRPC.create();
      const users = router({
        byPage: publicProcedure.input(page).query(() => []),
        rename: publicProcedure.mutation(() => 1),
      });
      export const app = router({ users: usersRouter, version: t.procedure.query(() => 1), watch: t.procedure.subscription(all) });`,
    );
    const found = await described(
      t,
      (_, url) =>
        url.startsWith('/api/trpc/') ? { error: { message: 'none', code: -32_004 } } : undefined,
      folder,
    );
    assert.deepEqual(
      [found?.by, found?.requests.map(({ method, path }) => `${method} ${path}`)],
      [
        'the code, for tRPC at /api/trpc,',
        ['byPage', 'version', 'users.byPage', 'users.version'].map(
          (each) => `GET /api/trpc/${each}`,
        ),
      ],
    );
  });

  test('by the Model Context Protocol is asked for its lists, in a session that each copy begins', async (t) => {
    const found = await described(t, (method, url, body) => {
      if (method !== 'POST' || url !== '/mcp' || !body.includes('"initialize"')) return undefined;
      return { jsonrpc: '2.0', id: 1, result: { protocolVersion: '2025-03-26' } };
    });
    assert.deepEqual(
      found?.requests.map(({ path, body }) => [
        path,
        (JSON.parse(body) as { method: string }).method,
      ]),
      ['tools/list', 'resources/list', 'prompts/list'].map((each) => ['/mcp', each]),
    );
    assert.match(found?.login?.body ?? '', /"method":"initialize"/);
  });
});

async function described(
  context: TestContext,
  answer: (method: string, url: string, body: string) => object | undefined,
  folder = '/no/such/folder',
): Promise<Described | undefined> {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const found = answer(request.method!, request.url!, body);
      response.statusCode = found === undefined || 'error' in found ? 404 : 200;
      response.setHeader('mcp-session-id', 'a');
      response.end(JSON.stringify(found ?? {}));
    });
  }).listen(0, '127.0.0.1');
  context.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { signal } = new AbortController();
  return describedRequests({ host: '127.0.0.1', port }, { headers: {}, folder, signal });
}
