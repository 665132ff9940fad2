import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import type { Report } from './fixture-callbacks.js';

const fixture = fileURLToPath(import.meta.resolve('./fixture-callbacks.js'));

const faults = ['throws', 'rejects', 'returns a getter that throws'];
const isAll = process.env['REDLINE_CALLBACKS'] === 'all';

for (const framework of ['fastify', 'express']) {
  // In `npm test` the first of them alone on the second framework.
  const chosen = isAll || framework === 'fastify' ? faults : faults.slice(0, 1);
  describe(`a callback of the app on ${framework}`, { concurrency: 2 }, () => {
    for (const fault of chosen) {
      it(`that ${fault} costs a response or a line, and never the process`, async () => {
        const { stdout } = await promisify(execFile)(process.execPath, [fixture, framework, fault]);
        const reports = stdout
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as Report);
        assert.equal(reports.at(-1)?.callback, 'DeferModule logger of an asynchronous method');
        for (const { callback, calls, statuses, fatal, isReported } of reports) {
          assert.deepEqual(fatal, [], callback);
          assert.ok(calls > 0, `${callback} was called`);
          assert.ok(isReported, `the fault of ${callback} is told`);
          // An app may also refuse to start with it, or fail each request.
          if (statuses.length === 0) continue;
          assert.equal(statuses[2], 500, callback);
          assert.ok([404, 500].includes(statuses[3]!), callback);
        }
      });
    }
  });
}
