// What the type checker must refuse: `npm run check:static` fails when it does not.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDefer } from '../src/create-defer.ts';
import { defer } from '../src/defer.ts';
import { defineJob } from '../src/job/job.ts';
import { TestSink } from './harness.ts';

const mail = defineJob<{ to: string }>('mail');
const tick = defineJob('tick');

test('a closure has one level, and a job the data of its definition', async () => {
  const deferrer = createDefer({ sinks: { test: new TestSink() }, handleSignals: false });
  defer.after(() => {});
  defer.after(() => {}, { level: 'memory', when: 'success' });
  defer(mail, { to: 'ada' });
  defer(tick);
  const wrong = (): void => {
    // @ts-expect-error -- a closure cannot be journaled
    defer.after(() => {}, { level: 'disk' });
    // @ts-expect-error -- nor kept by a sink
    deferrer.after(() => {}, { level: 'sink' });
    // @ts-expect-error -- a closure is no job
    defer(() => {});
    // @ts-expect-error -- the data is what the definition says
    defer(mail, { to: 7 });
    // @ts-expect-error -- and it is not optional
    defer(mail);
    // @ts-expect-error -- there is no such level
    defer(mail, { to: 'ada' }, { level: 'for ever' });
    // @ts-expect-error -- JSON has no functions
    defineJob<() => void>('closure');
    // @ts-expect-error -- JSON has no big integers
    defineJob<bigint>('big');
    // @ts-expect-error -- the default must be one of the sinks
    createDefer({ sinks: { test: new TestSink() }, sink: 'other' });
  };
  assert.throws(wrong, { code: 'ERR_REDLINE_DEFER_LEVEL' });
  await deferrer.close();
});
