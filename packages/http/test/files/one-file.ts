// Serves one file once, asks for it, and prints what came of it: MODULE FILE [length].
import { createHook } from 'node:async_hooks';
import fs from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';
import type { HttpModule } from '../conformance/engine.ts';

const [module, file, withLength] = process.argv.slice(2) as [string, string, string?];
const { createServer } = (await import(module)) as HttpModule;
const { size } = fs.statSync(file);

let operations = 0;
createHook({
  init: (_, type) => void (operations += Number(type === 'FSREQCALLBACK')),
}).enable();
const { promise: ended, resolve: end } = Promise.withResolvers<string>();
const server = createServer((_, response) => {
  if (withLength !== undefined) response.setHeader('Content-Length', size);
  pipeline(fs.createReadStream(file), response, (error) => end(error?.code ?? 'whole'));
});
server.listen(0, '127.0.0.1', async () => {
  const { port } = server.address() as AddressInfo;
  const response = await new Promise<IncomingMessage>((resolve) => get({ port }, resolve));
  const parts: Buffer[] = [];
  let seen = 'end';
  try {
    for await (const part of response) parts.push(part as Buffer);
  } catch (error) {
    seen = (error as NodeJS.ErrnoException).code!;
  }
  // The two ends of the connection are heard of in any order.
  const sent = await ended;
  const body = Buffer.concat(parts);
  process.stdout.write(
    JSON.stringify({
      ended: sent,
      seen,
      bytes: body.length,
      last: body.subarray(-8).toString('hex'),
      operations,
    }),
  );
  process.exit();
});
