import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import type { Report } from './fixture-callbacks.js';

const fixture = fileURLToPath(import.meta.resolve('./fixture-callbacks.js'));

for (const framework of ['fastify', 'express']) {
  describe(`a callback of the app on ${framework}`, { concurrency: 2 }, () => {
    for (const fault of ['throws', 'rejects', 'returns a getter that throws']) {
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
