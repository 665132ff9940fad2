import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { directorySource } from '../page/directory-source.ts';
import type { KeyRing } from '../seal/key-ring.ts';
import { pageHandler } from '../page/handler.ts';

/** Serves the page of a journal directory on loopback until the process is asked to stop. */
export async function serve(
  directory: string,
  port: number,
  keys: KeyRing | undefined,
  write: (text: string) => void,
): Promise<number> {
  const page = pageHandler(directorySource(directory, keys));
  const server = createServer((request, response) => {
    // Another site's name may be made to point here: its pages must not read this one.
    if (!isLoopback(request.headers.host)) {
      response.writeHead(421).end('This page is served to localhost only.\n');
      return;
    }
    page(request, response);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  write(`http://127.0.0.1:${(server.address() as AddressInfo).port}/  Ctrl-C stops it.\n`);
  const stopped = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  await stopped;
  server.close();
  server.closeAllConnections();
  return 0;
}

function isLoopback(host: string | undefined): boolean {
  return /^(?:localhost|127\.0\.0\.1)(?::\d+)?$/i.test(host ?? '');
}
