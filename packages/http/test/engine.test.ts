import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { createServer, engine, serverFactory } from '../src/index.ts';
import { EngineServer } from '../src/server/server.ts';

const run = promisify(execFile);
const entry = new URL('../src/index.ts', import.meta.url).href;
const isNative = engine().name === 'native';

describe('engine():', () => {
  test('REDLINE_HTTP=node chooses Node, and says so', async () => {
    const { stdout } = await run(
      process.execPath,
      [
        '--input-type=module',
        '-e',
        `const { engine } = await import('${entry}'); console.log(JSON.stringify(engine()));`,
      ],
      { env: { ...process.env, REDLINE_HTTP: 'node' } },
    );
    assert.deepEqual(JSON.parse(stdout), { name: 'node', reason: 'REDLINE_HTTP=node is set' });
  });

  test('--insecure-http-parser is for Node alone', async () => {
    const { stdout } = await run(process.execPath, [
      '--insecure-http-parser',
      '--input-type=module',
      '-e',
      `const { engine } = await import('${entry}'); console.log(engine().reason);`,
    ]);
    assert.equal(stdout, '--insecure-http-parser asks for a lenient parser\n');
  });
});

describe('engine(server):', { skip: !isNative }, () => {
  test('before and after listen, and after close', async () => {
    const server = createServer();
    const idle = { name: 'none', reason: 'it does not listen' };
    assert.deepEqual(engine(server), idle);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    assert.deepEqual(engine(server), { name: 'native' });
    server.close();
    assert.deepEqual(engine(server), idle);
  });

  const others: Record<string, [server: () => net.Server, reason: string]> = {
    'insecureHTTPParser: true': [
      () => createServer({ insecureHTTPParser: true }),
      'only Node supports the option insecureHTTPParser',
    ],
    blockList: [
      () => createServer({ blockList: new net.BlockList() } as http.ServerOptions),
      'only Node supports the option blockList',
    ],
    httpValidation: [
      () => createServer({ httpValidation: 'relaxed' } as http.ServerOptions),
      'only Node supports the option httpValidation',
    ],
    TLS: [() => serverFactory(() => {}, { https: true }), 'TLS is Node’s own'],
    'HTTP/2': [() => serverFactory(() => {}, { http2: true }), 'HTTP/2 is Node’s own'],
    'HTTP/2 over TLS': [
      () => serverFactory(() => {}, { http2: true, https: true }),
      'HTTP/2 is Node’s own',
    ],
    'node:http': [() => http.createServer(), 'it was created by node:http'],
    'node:net': [() => net.createServer(), 'it is not an HTTP server'],
  };
  for (const [name, [make, reason]] of Object.entries(others)) {
    test(name, () => assert.deepEqual(engine(make()), { name: 'node', reason }));
  }

  test('a server of http.Server’s own making, where the engine took its place', async () => {
    const { stdout } = await run(process.execPath, [
      '--import',
      new URL('../src/register.ts', import.meta.url).href,
      '--input-type=module',
      '-e',
      `import http from 'node:http'; import { engine } from '${entry}';
      const server = http.createServer({ insecureHTTPParser: true });
      const other = new http.Server().listen(0, () => {
        console.log(engine(server).reason, engine(other).name);
        process.exit();
      });`,
    ]);
    assert.equal(stdout, 'only Node supports the option insecureHTTPParser native\n');
  });

  const cluster = new URL('engine/cluster.ts', import.meta.url).pathname;
  test('a worker of node:cluster is the engine’s, whether it accepts its connections or is given them', async () => {
    const policies = await Promise.all([
      run(process.execPath, [cluster]),
      run(process.execPath, [cluster, 'none']),
    ]);
    for (const { stdout } of policies) assert.deepEqual(JSON.parse(stdout), { name: 'native' });
  });
});

describe('createServer:', () => {
  const nodeOnly: http.ServerOptions[] = [
    { insecureHTTPParser: true },
    { httpValidation: 'relaxed' } as http.ServerOptions,
  ];
  for (const options of nodeOnly) {
    test(`${JSON.stringify(options)} is served by Node itself`, () => {
      const server = createServer(options);
      assert.ok(!(server instanceof EngineServer));
      assert.ok(server instanceof http.Server);
    });
  }

  test('every other server is the engine’s', { skip: !isNative }, () => {
    assert.ok(createServer() instanceof EngineServer);
    assert.ok(createServer({ insecureHTTPParser: false }) instanceof EngineServer);
    assert.ok(createServer({ keepAlive: true }, () => {}) instanceof http.Server);
  });

  test('options are refused as Node refuses them', () => {
    assert.throws(() => createServer({ maxHeaderSize: -1 }), { code: 'ERR_OUT_OF_RANGE' });
    assert.throws(() => createServer('3000' as never), { code: 'ERR_INVALID_ARG_TYPE' });
  });
});
