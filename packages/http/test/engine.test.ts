import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import http from 'node:http';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { createServer, engine } from '../src/index.ts';
import { EngineServer } from '../src/server.ts';

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
    assert.deepEqual(JSON.parse(stdout), { name: 'node', reason: 'REDLINE_HTTP asks for it' });
  });

  test('--insecure-http-parser is for Node alone', async () => {
    const { stdout } = await run(process.execPath, [
      '--insecure-http-parser',
      '--input-type=module',
      '-e',
      `const { engine } = await import('${entry}'); console.log(engine().reason);`,
    ]);
    assert.equal(stdout, '--insecure-http-parser asks for a parser that is not strict\n');
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
