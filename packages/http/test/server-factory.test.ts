import assert from 'node:assert/strict';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import { describe, test } from 'node:test';
import { engine, serverFactory } from '../src/index.ts';
import { EngineServer } from '../src/server/server.ts';

const ignore = (): void => {};

describe('serverFactory:', () => {
  test('it sets what Fastify sets on its own servers', () => {
    const server = serverFactory(ignore, {
      http: { maxHeaderSize: 1234 },
      keepAliveTimeout: 1,
      requestTimeout: 2,
      connectionTimeout: 3,
      maxRequestsPerSocket: 4,
    });
    assert.ok(server instanceof http.Server);
    assert.equal(server instanceof EngineServer, engine().name === 'native');
    const { keepAliveTimeout, requestTimeout, timeout, maxRequestsPerSocket } = server;
    assert.deepEqual(
      { keepAliveTimeout, requestTimeout, timeout, maxRequestsPerSocket },
      { keepAliveTimeout: 1, requestTimeout: 2, timeout: 3, maxRequestsPerSocket: 4 },
    );
    assert.equal((server as unknown as { maxHeaderSize: number }).maxHeaderSize, 1234);
  });

  test('without options they are Node’s', () => {
    const given = serverFactory(ignore, {});
    const { keepAliveTimeout, requestTimeout, timeout } = http.createServer();
    assert.deepEqual(
      [given.keepAliveTimeout, given.requestTimeout, given.timeout],
      [keepAliveTimeout, requestTimeout, timeout],
    );
  });

  test('TLS and HTTP/2 are Node’s', () => {
    assert.ok(serverFactory(ignore, { https: {} }) instanceof https.Server);
    assert.ok(serverFactory(ignore, { https: true }) instanceof https.Server);
    const plain = serverFactory(ignore, { http2: true, http2SessionTimeout: 100 });
    assert.equal(plain.constructor, http2.createServer().constructor);
    const secure = serverFactory(ignore, { http2: true, https: {} });
    assert.equal(secure.constructor, http2.createSecureServer().constructor);
  });
});
