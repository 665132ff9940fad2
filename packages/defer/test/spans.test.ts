import assert from 'node:assert/strict';
import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { before, describe, test, type TestContext } from 'node:test';
import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import express from 'express';
import { openTelemetryContext } from '../src/adapters/opentelemetry.ts';
import { expressDefer } from '../src/adapters/express.ts';
import { createDefer } from '../src/create-defer.ts';
import type { Deferrer } from '../src/deferrer.ts';
import { defer } from '../src/defer.ts';
import { defineJob } from '../src/job/job.ts';
import { dead, type Sink } from '../src/sink.ts';
import { batched, handlers } from '../src/sinks/handlers.ts';
import { until } from '@redline/services/until';
import { listening, temporaryFolder, TestSink } from './harness.ts';
import { recordSpans, type RecordedSpan } from './spans-recorder.ts';

const mail = defineJob<string>('send-mail');
const away: Sink = { kind: 'away', send: () => Promise.reject(new Error('away')) };
let spans: RecordedSpan[];
before(() => {
  spans = recordSpans();
});

/** Spans of what belongs to this request: tests run side by side. */
function ofTrace(parent: RecordedSpan): RecordedSpan[] {
  const { traceId } = parent.spanContext();
  return spans.filter((span) => {
    const isLinked = span.links.some((link) => link.context.traceId === traceId);
    return span !== parent && span.isEnded && (isLinked || span.spanContext().traceId === traceId);
  });
}

function open(t: TestContext, sink: Sink, directory?: string): Deferrer {
  const deferrer = createDefer({
    sinks: { work: { sink, retry: { attempts: 1 } } },
    ...(directory !== undefined && { journal: { directory }, level: 'process' }),
    context: openTelemetryContext(),
    handleSignals: false,
    logger: false,
  });
  t.after(() => deferrer.close({ drainMs: 0 }));
  return deferrer;
}

/** What instrumentation of HTTP makes of a request. */
function asRequest(work: () => void): RecordedSpan {
  const tracer = trace.getTracer('test');
  return tracer.startActiveSpan('GET /orders', { kind: SpanKind.SERVER }, (span) => {
    work();
    span.end();
    return span as RecordedSpan;
  });
}

describe('with OpenTelemetry', () => {
  test('each run is a span that is linked to the request, through Express', async (t) => {
    let seen: string | undefined;
    const deferrer = open(
      t,
      handlers({
        async 'send-mail'() {
          await new Promise((resolve) => setImmediate(resolve));
          seen = trace.getSpanContext(context.active())?.spanId;
        },
      }),
    );
    let parent: RecordedSpan | undefined;
    const app = express();
    app.use((_request, _response, next) => {
      parent = asRequest(next);
    });
    app.use(expressDefer(deferrer));
    app.get('/orders', (_request, response) => {
      defer(mail, 'ada', { key: 'a' });
      response.json({});
    });
    const { status } = await fetch(`${await listening(t, app as never)}/orders`);
    assert.equal(status, 200);
    await until('the span', () => ofTrace(parent!).length === 1);
    const [span] = ofTrace(parent!);
    assert.equal(span!.name, 'process send-mail');
    assert.equal(span!.kind, SpanKind.CONSUMER);
    assert.equal(span!.parentSpanId, parent!.spanContext().spanId);
    assert.deepEqual(
      span!.links.map((link) => link.context.spanId),
      [parent!.spanContext().spanId],
    );
    assert.equal(seen, span!.spanContext().spanId);
    const { 'messaging.message.id': id, ...attributes } = span!.attributes;
    assert.equal(typeof id, 'string');
    assert.deepEqual(attributes, {
      'messaging.system': 'redline_defer',
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
      'messaging.destination.name': 'send-mail',
      'redline.defer.sink': 'work',
      'redline.defer.attempt': 1,
    });
  });

  test('a job that fails is a span that says so', async (t) => {
    const deferrer = open(
      t,
      handlers({
        'send-mail': () => Promise.reject(Object.assign(new Error('busy'), { code: 'EBUSY' })),
      }),
    );
    const parent = asRequest(() => deferrer.defer(mail, 'ada'));
    await until('the span', () => ofTrace(parent).length === 1);
    const [span] = ofTrace(parent);
    assert.deepEqual(span!.status, { code: SpanStatusCode.ERROR, message: 'busy' });
    assert.equal(span!.attributes['error.type'], 'EBUSY');
  });

  test('jobs that are run together are one span with a link for each', async (t) => {
    const deferrer = open(t, handlers({ 'send-mail': batched(() => {}) }));
    const parents = [1, 2].map(() => asRequest(() => deferrer.defer(mail, 'ada')));
    await until('the span', () => ofTrace(parents[0]!).length === 1);
    const [span] = ofTrace(parents[0]!);
    assert.equal(span!.parentSpanId, undefined);
    assert.deepEqual(
      span!.links.map((link) => link.context.spanId),
      parents.map((parent) => parent.spanContext().spanId),
    );
    assert.equal(span!.attributes['messaging.batch.message_count'], 2);
  });

  test('a closure is a span as well', async (t) => {
    const deferrer = open(t, new TestSink());
    const parent = asRequest(() => deferrer.after(function tidy() {}));
    await until('the span', () => ofTrace(parent).length === 1);
    assert.equal(ofTrace(parent)[0]!.name, 'process tidy');
  });

  test('a batch on its way to a server is a span, and one that found none says why', async (t) => {
    const sink: Sink = { kind: 'kafka', send: async (batch) => batch.map(() => dead('no')) };
    const parent = asRequest(() => open(t, sink).defer(mail, 'ada'));
    await until('the span', () => ofTrace(parent).length === 1);
    const [span] = ofTrace(parent);
    assert.equal(span!.name, 'send work');
    assert.equal(span!.kind, SpanKind.CLIENT);
    assert.equal(span!.parentSpanId, undefined);
    assert.equal(span!.attributes['messaging.system'], 'kafka');
    assert.equal(span!.attributes['messaging.operation.type'], 'send');
    const failed = asRequest(() => open(t, away).defer(mail, 'ada'));
    await until('the span', () => ofTrace(failed).length > 0);
    assert.equal(ofTrace(failed)[0]!.status?.code, SpanStatusCode.ERROR);
  });

  test('the link survives kill -9, and the process that takes the job over makes it', async (t) => {
    const directory = temporaryFolder(t);
    const file = join(import.meta.dirname, 'spans-app.ts');
    const app = spawn(process.execPath, [file, directory], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const [{ url }] = (await once(app, 'message')) as [{ url: string }];
    const response = await fetch(url);
    assert.equal(response.status, 200);
    const { traceId, spanId } = (await response.json()) as { traceId: string; spanId: string };
    app.kill('SIGKILL');
    await once(app, 'exit');
    open(t, handlers({ 'send-mail': () => {} }), directory);
    const made = (): RecordedSpan | undefined =>
      spans.find((span) => span.isEnded && span.spanContext().traceId === traceId);
    await until('the span', () => made() !== undefined);
    assert.equal(made()!.name, 'process send-mail');
    assert.equal(made()!.parentSpanId, spanId);
    assert.deepEqual(
      made()!.links.map((link) => [link.context.traceId, link.context.spanId]),
      [[traceId, spanId]],
    );
  });
});
