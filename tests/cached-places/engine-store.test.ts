// Runs the contract of local stores against that of the engine.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe } from 'node:test';
import { responseStoreOf, createServer } from '@redline/http';
import { localStoreContract } from '../../packages/response-cache/test/local-store-contract.ts';
import { skip } from './apps.ts';

describe('The local store of the engine', { skip }, () => {
  if (skip) return;
  localStoreContract(async ({ ttl, maxBytes }) => {
    const responseStore = { maxBytes };
    const server = createServer({ responseStore } as never, (_request, response) => {
      response.writeHead(404).end();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const store = responseStoreOf(server)!;
    return {
      async begin(key, tags = []) {
        const ticket = store.ticket();
        return {
          async finish(body) {
            store.keep(key, { body, freshMs: ttl, tags }, ticket);
          },
        };
      },
      async find(key) {
        const response = await fetch(`http://127.0.0.1:${port}${key}`);
        const body = await response.text();
        return response.ok ? body : undefined;
      },
      delete: (key) => store.drop(key),
      invalidate: (tag) => store.dropTags([tag]),
      clear: () => store.clear(),
      close: () => {
        server.closeAllConnections();
        server.close();
      },
    };
  });
});
