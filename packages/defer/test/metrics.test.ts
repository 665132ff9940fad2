import assert from 'node:assert/strict';
import { test } from 'node:test';
import { context, propagation, trace, TraceFlags } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { createDefer } from '../src/create-defer.ts';
import { defineJob } from '../src/job/job.ts';
import { observeDefer, openTelemetryContext } from '../src/adapters/opentelemetry.ts';
import { prometheusMetrics } from '../src/adapters/prometheus.ts';
import { dead } from '../src/sink.ts';
import { handlers } from '../src/sinks/handlers.ts';
import { until } from '@redline/services/until';
import { temporaryFolder, TestClock, TestSink } from './harness.ts';

const job = defineJob<unknown>('job');

test('Prometheus reads what happened, sink by sink', async () => {
  const clock = new TestClock();
  const sink = new TestSink();
  const deferrer = createDefer({
    sinks: { test: sink },
    clock,
    handleSignals: false,
    logger: false,
  });
  sink.answer = (batch) => batch.map(({ json }) => (json === '2' ? dead('no') : undefined));
  for (const n of [1, 2, 3]) deferrer.defer(job, n);
  await clock.pass(5);
  sink.isPaused = true;
  deferrer.defer(job, 4);
  await clock.pass(2_000);
  const text = prometheusMetrics(deferrer);
  const value = (line: string): number => Number(new RegExp(`^${line} (.+)$`, 'm').exec(text)?.[1]);
  assert.equal(value('redline_defer_depth\\{sink="test"\\}'), 1);
  assert.equal(value('redline_defer_oldest_age_seconds\\{sink="test"\\}'), 2);
  assert.equal(value('redline_defer_sent_total\\{sink="test"\\}'), 2);
  assert.equal(value('redline_defer_dead_total\\{sink="test"\\}'), 1);
  assert.equal(value('redline_defer_dropped_total\\{sink="test",reason="overflow"\\}'), 0);
  assert.equal(value('redline_defer_lag_seconds_bucket\\{sink="test",le="0.005"\\}'), 2);
  assert.equal(value('redline_defer_lag_seconds_count\\{sink="test"\\}'), 2);
  assert.equal(value('redline_defer_dead_letters'), 1);
  for (const line of text.trimEnd().split('\n')) {
    assert.match(line, /^(# (HELP|TYPE) \w+ .+|\w+(\{.*\})? -?[\d.e+-]+)$/);
  }
  deferrer.closeSync();
});

test('OpenTelemetry observes the same', async () => {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 2 ** 30 });
  const provider = new MeterProvider({ readers: [reader] });
  const clock = new TestClock();
  const deferrer = createDefer({ sinks: { test: new TestSink() }, clock, handleSignals: false });
  const stop = observeDefer(deferrer, provider.getMeter('test'));
  deferrer.defer(job, 1);
  deferrer.defer(job, 2);
  await clock.pass(5);
  deferrer.defer(job, 3);
  await reader.forceFlush();
  const metrics = exporter.getMetrics().at(-1)!.scopeMetrics[0]!.metrics;
  const value = (name: string): unknown =>
    metrics
      .find(({ descriptor }) => descriptor.name === `redline.defer.${name}`)
      ?.dataPoints.find(({ attributes }) => attributes.sink === 'test')?.value;
  assert.equal(value('sent'), 2);
  assert.equal(value('depth'), 1);
  assert.equal(value('dropped'), 0);
  stop();
  await provider.shutdown();
  deferrer.closeSync();
});

test('the trace goes with a job, also to the process that has to finish it', async (t) => {
  const directory = temporaryFolder(t);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  t.after(() => {
    context.disable();
    propagation.disable();
  });
  const spanContext = {
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId: 'b7ad6b7169203331',
    traceFlags: TraceFlags.SAMPLED,
  };
  const seen: unknown[] = [];
  const options = {
    journal: { directory },
    level: 'process' as const,
    context: openTelemetryContext(),
    handleSignals: false,
    logger: false as const,
  };
  const away = { kind: 'away', send: () => Promise.reject(new Error('away')) };
  const first = createDefer({ ...options, sinks: { work: away } });
  await context.with(trace.setSpanContext(context.active(), spanContext), () =>
    first.defer(job, 1).acknowledged(),
  );
  await first.close({ drainMs: 0 });
  const sink = handlers({
    job: () => {
      seen.push(trace.getSpanContext(context.active())?.traceId);
    },
  });
  const second = createDefer({ ...options, sinks: { work: sink } });
  await until('the job', () => seen.length === 1);
  await second.close();
  assert.deepEqual(seen, [spanContext.traceId]);
});
