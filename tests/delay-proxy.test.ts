import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

const program = join(import.meta.dirname, '../benchmarks/delay-proxy.ts');

test('the delay proxy is never nearer than it says, and passes everything on as it is', async (t) => {
  const roundTripMs = 40;
  const port = await startProxy(t, roundTripMs);
  const socket = connect({ port, host: '127.0.0.1' });
  await once(socket, 'connect');
  const sent = Buffer.alloc(4 << 20, 'some bytes, ');
  const start = performance.now();
  let firstAt = 0;
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => {
    firstAt ||= performance.now();
    chunks.push(chunk);
  });
  socket.end(sent);
  await once(socket, 'end');
  assert.ok(firstAt - start >= roundTripMs - 1, `${firstAt - start} ms`);
  assert.ok(Buffer.concat(chunks).equals(sent));
});

/** In front of a server that sends back what it gets. */
async function startProxy(t: TestContext, roundTripMs: number): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const child = spawn(process.execPath, [program, String(port), String(roundTripMs)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill());
  const [line] = await once(child.stdout, 'data');
  return Number(String(line));
}
