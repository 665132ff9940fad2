import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseSummary } from '../../src/load/wrk.ts';

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
      socketErrors: 10,
    });
  });

  test('is missed in one sentence when there is none', () => {
    assert.throws(() => parseSummary('unable to connect to 127.0.0.1:1 Connection refused'), {
      code: 'ERR_REDLINE_LOAD',
      message: /wrk printed no summary.*\nunable to connect/s,
    });
  });
});
