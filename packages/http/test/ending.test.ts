import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';

const entry = new URL('../src/index.ts', import.meta.url).href;
// The thread that sends responses still looks for more when the end comes.
const program = `
  const { connect } = require('node:net');
  import(${JSON.stringify(entry)}).then(({ createServer }) => {
    const server = createServer((request, response) => response.end('x'));
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      const client = connect(port, '127.0.0.1', () => client.write('GET / HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n'));
      client.once('data', () => process.exit(7));
    });
  });`;

test('a thread that ends right behind a response ends', { timeout: 600_000 }, async () => {
  for (let round = 0; round < 25; round++) {
    const [code] = (await once(new Worker(program, { eval: true }), 'exit')) as [number];
    assert.equal(code, 7);
  }
});

const modules = { 'node:http': 'node:http', 'the engine': entry, 'the engine, on a thread': entry };
// Nothing but the server keeps the process alive, and the last that happens to it is the end of its connections.
const closing = `
  const { connect } = require('node:net');
  const [module, isThreaded] = process.argv.slice(1);
  import(module).then(({ createServer }) => {
    const options = isThreaded === 'true' ? { threaded: true } : {};
    const server = createServer(options, (request, response) => {
      if (request.url === '/answered') response.end('answered');
      else close();
    });
    const close = () => {
      server.close(() => process.stdout.write('closed '));
      server.closeAllConnections();
    };
    server.listen(0, '127.0.0.1', () => {
      const client = connect(server.address().port, '127.0.0.1').unref();
      client.on('error', () => {});
      client.once('data', close);
      client.write('GET /' + process.argv[3] + ' HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n');
    });
  });`;

for (const [name, module] of Object.entries(modules)) {
  for (const path of ['answered', 'pending']) {
    test(`${name}: "close" comes before a process ends, its last request ${path}`, async () => {
      const isThreaded = String(name.endsWith('thread'));
      for (let round = 0; round < (module === entry ? 5 : 1); round++) {
        const given = ['--no-warnings', '--eval', closing, module, isThreaded, path];
        const { stdout } = await promisify(execFile)(process.execPath, given);
        assert.equal(stdout, 'closed ');
      }
    });
  }
}
