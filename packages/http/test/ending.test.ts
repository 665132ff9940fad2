import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
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

test('a thread that ends right behind a response ends', { timeout: 120_000 }, async () => {
  for (let round = 0; round < 25; round++) {
    const [code] = (await once(new Worker(program, { eval: true }), 'exit')) as [number];
    assert.equal(code, 7);
  }
});
