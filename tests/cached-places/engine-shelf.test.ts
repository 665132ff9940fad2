// What every shelf of the cache promises, asked of the engine's.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe } from 'node:test';
import { answersOf, createServer } from '@redline/http';
import { shelfContract } from '../../packages/response-cache/test/shelf-contract.ts';
import { skip } from './apps.ts';

describe('The shelf of the engine', { skip }, () => {
  if (skip) return;
  shelfContract(async ({ ttl, maxBytes }) => {
    const answers = { maxBytes };
    const server = createServer({ answers } as never, (_request, response) => {
      response.writeHead(404).end();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const shelf = answersOf(server)!;
    return {
      async begin(key, tags = []) {
        const ticket = shelf.ticket();
        return {
          async finish(body) {
            shelf.keep(key, { body, freshMs: ttl, tags }, ticket);
          },
        };
      },
      async find(key) {
        const response = await fetch(`http://127.0.0.1:${port}${key}`);
        const body = await response.text();
        return response.ok ? body : undefined;
      },
      delete: (key) => shelf.drop(key),
      invalidate: (tag) => shelf.dropTags([tag]),
      clear: () => shelf.clear(),
      close: () => {
        server.closeAllConnections();
        server.close();
      },
    };
  });
});
