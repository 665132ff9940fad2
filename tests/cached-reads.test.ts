// On both servers a response that was made of what its handler has read of one caller is not sent to another, whichever object
// the handler reads it from.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http, { type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { createServer } from '@redline/http';
import { JsonCache, unobserved } from '@redline/response-cache';
import { cached } from '@redline/response-cache/express';
import express, { type RequestHandler } from 'express';

type Read = (request: any, response: any) => unknown;

const tenantOf = ({ rawHeaders }: IncomingMessage): unknown =>
  rawHeaders[rawHeaders.indexOf('tenant') + 1];
const addressOf = ({ socket }: IncomingMessage): unknown => socket.remoteAddress;

function subApp(read: Read): RequestHandler {
  return express().use((request, response) => {
    response.json({ value: read(request, response) });
  });
}

function handler(read: Read): RequestHandler {
  return (request, response) => {
    response.json({ value: read(request, response) });
  };
}

const handlers: Readonly<Record<string, RequestHandler>> = {
  rawHeaders: handler(tenantOf),
  'socket.remoteAddress': handler(addressOf),
  'client.remoteAddress': handler((request) => request.client.remoteAddress),
  'socket._getpeername()': handler((request) => request.socket._getpeername().address),
  'socket._peername': handler(
    ({ socket }) => socket._peername?.address ?? unobserved(() => socket.remoteAddress),
  ),
  'rawHeaders of a sub-app': subApp(tenantOf),
  'headersDistinct of a sub-app': subApp((request) => request.headersDistinct.tenant[0]),
  'ip of a sub-app': subApp((request) => request.ip),
  'connection of a sub-app': subApp((request) => request.connection.remoteAddress),
  'rawHeaders by an object that inherits': handler((request) => tenantOf(Object.create(request))),
  'socket by an object that inherits': handler((request) => addressOf(Object.create(request))),
  'rawHeaders by a proxy': handler((request) => tenantOf(new Proxy(request, {}))),
  'socket by a proxy': handler((request) => addressOf(new Proxy(request, {}))),
  'rawHeaders, which a logger has read before': handler((request) => {
    unobserved(() => JSON.stringify(request.rawHeaders));
    return tenantOf(request);
  }),
  'headersDistinct, after a logger has read rawHeaders': handler((request) => {
    unobserved(() => JSON.stringify(request.rawHeaders));
    return request.headersDistinct.tenant[0];
  }),
  'the address, after a logger has read it': handler((request) => {
    unobserved(() => addressOf(request));
    return addressOf(request);
  }),
};

function ask(port: number, tenant: string, localAddress: string): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const headers = { tenant, connection: 'close' };
  const options = { host: '127.0.0.1', port, localAddress, headers, agent: false };
  const request = http.get(options, (response) => {
    let text = '';
    response.setEncoding('utf8').on('data', (chunk: string) => void (text += chunk));
    response.on('end', () => resolve((JSON.parse(text) as { value: unknown }).value));
  });
  request.on('error', reject);
  return promise;
}

const servers: Readonly<Record<string, (listener: RequestListener) => http.Server>> = {
  'node:http': (listener) => http.createServer(listener),
  'the engine': (listener) =>
    createServer((request: IncomingMessage, response: ServerResponse) => {
      listener(request, response as never);
    }) as unknown as http.Server,
};

for (const [server, create] of Object.entries(servers)) {
  describe(`On ${server}, a cached route keeps a response to its caller that depends on`, () => {
    for (const [read, handle] of Object.entries(handlers)) {
      it(read, async (t) => {
        const cache = new JsonCache({ logger: { log: () => {}, warn: () => {} } });
        const app = express();
        app.get('/', cached(cache, {}, { hosts: 'any' }), handle);
        const listening = create(app).listen(0, '127.0.0.1');
        t.after(() => listening.close());
        await once(listening, 'listening');
        const { port } = listening.address() as AddressInfo;
        for (let round = 0; round < 3; round++) {
          for (const [tenant, address] of [
            ['a', '127.0.0.1'],
            ['b', '127.0.0.2'],
          ] as const) {
            const value = await ask(port, tenant, address);
            assert.ok(value === tenant || value === address, `${tenant} got ${String(value)}`);
          }
        }
      });
    }
  });
}
