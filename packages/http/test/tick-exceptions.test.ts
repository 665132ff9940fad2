// An exception of a tick is the app's, and costs no other client its request: the records behind it are read on.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { engine } from '../src/index.ts';

const run = promisify(execFile);
const own = JSON.stringify(join(import.meta.dirname, '../src/index.ts'));
const skip = engine().name === 'node' && 'Node serves here.';

const program = (from: string, inTick: string): string => `
  import { connect } from 'node:net';
  const { createServer } = await import(${from});
  let count = 0;
  let uncaught = 0;
  process.on('uncaughtException', () => (uncaught += 1));
  const server = createServer((request, response) => {
    if ((count += 1) === 6) {
      // Longer than the engine reads on without a tick.
      const end = performance.now() + 5;
      while (performance.now() < end);
      ${inTick}
    }
    response.end('x');
  });
  server.listen(0, '127.0.0.1', async () => {
    const { port } = server.address();
    const sockets = await Promise.all(Array.from({ length: 40 }, () => new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(socket));
    })));
    const responses = sockets.map((socket) => new Promise((resolve) => socket.once('data', resolve)));
    for (const socket of sockets) socket.write('GET / HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n');
    await Promise.all(responses);
    console.log(count, uncaught);
    process.exit();
  });
`;

const throwing: Readonly<Record<string, string>> = {
  'of process.nextTick': "process.nextTick(() => { throw new Error('wanted'); });",
  'of three ticks':
    "for (let tick = 0; tick < 3; tick++) process.nextTick(() => { throw new Error('wanted'); });",
  'of a listener of "finish"': "response.on('finish', () => { throw new Error('wanted'); });",
};

describe('every request gets its response beside an exception', { skip, timeout: 600_000 }, () => {
  for (const [where, inTick] of Object.entries(throwing)) {
    test(where, async () => {
      const outputs = await Promise.all(
        ["'node:http'", own].map(async (from) => {
          const options = ['--no-warnings', '--input-type=module', '--eval', program(from, inTick)];
          const { stdout } = await run(process.execPath, options, { timeout: 20_000 });
          return stdout.trim();
        }),
      );
      assert.equal(outputs[1], outputs[0]);
      assert.match(outputs[0]!, /^40 [13]$/);
    });
  }
});
