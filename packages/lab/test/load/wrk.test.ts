import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import { findWrk, parseSummary } from '../../src/load/wrk.ts';

describe('the summary of wrk', () => {
  test('is read with its unit of time', () => {
    const read = (line: string): number => parseSummary(line).seconds;
    assert.equal(read('  8392 requests in 202.51ms, 1.02MB read'), 0.20251);
    assert.equal(read('  8392 requests in 1.50s, 1.02MB read'), 1.5);
    assert.equal(read('  8392 requests in 1.50m, 1.02MB read'), 90);
  });

  test('is read with answers that failed and connections that broke', () => {
    const output = `  120 requests in 1.00s, 1.02MB read
  Socket errors: connect 1, read 2, write 3, timeout 4
  Non-2xx or 3xx responses: 7
`;
    assert.deepEqual(parseSummary(output), {
      requests: 120,
      seconds: 1,
      badStatus: 7,
      // Four were slow, and no connection of theirs broke.
      socketErrors: 6,
    });
  });

  test('is missed in one sentence when there is none', () => {
    assert.throws(() => parseSummary('unable to connect to 127.0.0.1:1 Connection refused'), {
      code: 'ERR_REDLINE_LOAD',
      message: /wrk printed no summary.*\nunable to connect/s,
    });
  });
});

const wrk = findWrk(1);

describe('a pipelined load', { skip: wrk === undefined && 'wrk is not installed' }, () => {
  test('sends so many requests at a time and counts each', async (t) => {
    const batches: number[] = [];
    const response = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
    const server = createServer((socket) => {
      let text = '';
      socket.on('error', () => {});
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString('latin1');
        const complete = text.endsWith('\r\n\r\n') ? text.split('\r\n\r\n').length - 1 : 0;
        if (complete === 0) return;
        text = '';
        batches.push(complete);
        socket.write(response.repeat(complete));
      });
    }).listen(0, '127.0.0.1');
    t.after(() => server.close());
    await once(server, 'listening');
    const { requests, badStatus, socketErrors } = await wrk!.run({
      host: '127.0.0.1',
      port: (server.address() as AddressInfo).port,
      requests: [{ method: 'GET', path: '/', headers: {}, body: '', compare: 'body', timed: true }],
      connections: 2,
      pipeline: 16,
      durationMs: 200,
      signal: new AbortController().signal,
    });
    assert.ok(batches.length > 2);
    assert.deepEqual([...new Set(batches)], [16]);
    assert.ok(requests > 16 && requests <= batches.length * 16, `${requests}`);
    assert.deepEqual([badStatus, socketErrors], [0, 0]);
  });
});
