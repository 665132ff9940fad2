// Handlers throw what they like: each such job is a dead letter that says something, and all others are done.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import express from 'express';
import { expressDefer } from '../src/adapters/express.ts';
import { createDefer } from '../src/create-defer.ts';
import { defer } from '../src/defer.ts';
import { defineJob } from '../src/job/job.ts';
import { handlers } from '../src/sinks/handlers.ts';
import { until } from '@redline/services/until';
import { listening, temporaryFolder } from './harness.ts';

const circular: Record<string, unknown> = { reason: 'circular' };
circular['self'] = circular;
const hostile = (): never => {
  throw new Error('a trap');
};

const thrown: Readonly<Record<string, unknown>> = {
  nothing: undefined,
  null: null,
  text: 'no room',
  symbol: Symbol('no room'),
  bare: Object.create(null),
  circular,
  bigint: { left: 1n },
  'a message that is a number': Object.assign(new Error('later'), { message: 5 }),
  'a stack that is an object': Object.assign(new Error('later'), { stack: {} }),
  'a getter that throws': Object.defineProperty(new Error('later'), 'message', { get: hostile }),
  proxy: new Proxy({}, { get: hostile, getPrototypeOf: hostile }),
};

for (const level of ['memory', 'process'] as const) {
  test(`a handler may throw anything, at level ${level}`, async (t) => {
    const strange = defineJob<string>('strange', { level });
    const good = defineJob<string>('good', { level });
    const done: string[] = [];
    const deferrer = createDefer({
      sinks: {
        work: {
          sink: handlers({
            strange: (what: string) => {
              throw thrown[what];
            },
            good: (what: string) => void done.push(what),
          }),
          retry: { attempts: 2, minMs: 1, maxMs: 1 },
        },
      },
      journal: { directory: temporaryFolder(t) },
      handleSignals: false,
      logger: false,
    });
    t.after(() => deferrer.close());
    const app = express();
    app.use(expressDefer(deferrer));
    app.post('/:what', ({ params: { what } }, response) => {
      defer(strange, what);
      defer(good, what);
      response.json({ what });
    });
    const url = await listening(t, app);
    const names = Object.keys(thrown);
    for (const what of names) {
      const { status } = await fetch(`${url}/${what}`, { method: 'POST' });
      assert.equal(status, 200);
    }
    await until('the end of all', () => deferrer.queues.get('work')!.depth === 0);
    await deferrer.drain();
    assert.deepEqual(done, names);
    const letters = await deferrer.deadLetters.list();
    assert.deepEqual(
      letters.map(({ record }) => JSON.parse(record.json)).toSorted(),
      names.toSorted(),
    );
    for (const { reason } of letters) assert.match(reason, /./);
    const reasons = new Map(letters.map(({ record, reason }) => [JSON.parse(record.json), reason]));
    assert.match(reasons.get('text')!, /no room/);
    assert.match(reasons.get('circular')!, /circular/);
    assert.match(reasons.get('bigint')!, /1n/);
    assert.equal(deferrer.stats().sinks.find(({ name }) => name === 'work')!.waiting, undefined);
  });
}
