import {
  context,
  defaultTextMapGetter,
  defaultTextMapSetter,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type Span,
} from '@opentelemetry/api';
import { getRPCMetadata, isTracingSuppressed, RPCType, suppressTracing } from '@opentelemetry/core';
import {
  AlwaysOffSampler,
  createAlwaysRecordSampler,
  SamplingDecision,
  TraceIdRatioBasedSampler,
  type ReadableSpan,
  type Sampler,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace';
import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { after, before, test } from 'node:test';
import { AsyncContextManager } from '../src/api/context-manager.ts';
import { createPropagator } from '../src/api/propagator.ts';
import type { RequestContext } from '../src/api/request-context.ts';
import { onResponseEnd, RequestSpans } from '../src/api/request-spans.ts';
import { HeadSampling } from '../src/api/sampling.ts';
import { TraceId } from '../src/api/trace-id.ts';
import { TracerProvider, type TracerProviderOptions } from '../src/api/tracer-provider.ts';
import { RingWriter, createRing } from '../src/native/ring-writer.ts';
import { RING } from '../src/native/wire.ts';
import { RingReader } from './ring-records.ts';

const contexts = new AsyncContextManager();
const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const PARENT_ID = 'b7ad6b7169203331';
/** The ids of slot 7, generation 2, sequence 40 with the seed 1 to 6. */
const DERIVED = { traceId: '5a77181faa37ae452490e1a1c0b64c3a', spanId: 'b81f32b9ae4bfe7c' };

before(() => {
  context.setGlobalContextManager(contexts);
  propagation.setGlobalPropagator(createPropagator(['tracecontext', 'baggage']));
});
after(() => {
  context.disable();
  propagation.disable();
});

interface Setup {
  readonly provider: TracerProvider;
  readonly reader: RingReader;
  readonly response: { closed: boolean };
  begin(headers?: Readonly<Record<string, string>>): RequestContext;
}

function setup(options: Partial<TracerProviderOptions> = {}): Setup {
  const ring = createRing();
  ring.set([1, 2, 3, 4, 5, 6], RING.SEED);
  const writer = new RingWriter(ring, () => {});
  const provider = new TracerProvider({ writer, ...options });
  const spans = new RequestSpans({
    scope: provider.scope('@redline/telemetry'),
    ring,
    writer,
    attributesOf: ({ method }) => ({ 'http.request.method': method }),
  });
  const response = { closed: false };
  return {
    provider,
    reader: new RingReader(ring),
    response,
    begin: (headers = {}) =>
      spans.begin(
        { method: 'GET', headers } as unknown as IncomingMessage,
        response as ServerResponse,
        7,
        2,
        40,
      ),
  };
}

test('the ids of a request are derived from its place, once something asks', () => {
  const { begin, reader } = setup();
  const request = begin();
  assert.equal(request.startedSpan, undefined);
  const span = trace.getSpan(request);
  assert.equal(trace.getSpan(request), span);
  assert.deepEqual(span?.spanContext(), { ...DERIVED, traceFlags: 1 });
  assert.deepEqual(reader.read(), [], 'nothing is written for it');
});

test('a request continues the trace of its client', () => {
  const { begin, provider, reader } = setup();
  const request = begin({
    traceparent: `00-${TRACE_ID}-${PARENT_ID}-01`,
    tracestate: 'vendor=1,other=2',
  });
  const { traceState, ...rest } = trace.getSpanContext(request) ?? assert.fail();
  assert.deepEqual(rest, { traceId: TRACE_ID, spanId: DERIVED.spanId, traceFlags: 1 });
  assert.equal(traceState?.serialize(), 'vendor=1,other=2');
  provider.getTracer('app').startSpan('child', {}, request).end();
  const [child] = reader.spans();
  assert.equal(child?.traceId, TRACE_ID);
  assert.equal(child.parentSpanId, DERIVED.spanId);
  assert.equal(child.traceState, 'vendor=1,other=2');
  assert.equal(child.flags, 0x101, 'its parent is of this process');
});

test('the ids of a request are all that its children need', () => {
  const { begin, provider, reader } = setup();
  const request = begin();
  provider.getTracer('app').startSpan('child', {}, request).end();
  assert.equal(request.startedSpan, undefined);
  const [child] = reader.spans();
  assert.deepEqual([child?.traceId, child?.parentSpanId], [DERIVED.traceId, DERIVED.spanId]);
  assert.equal(trace.getSpanContext(request)?.spanId, DERIVED.spanId);
});

test('an invalid traceparent begins a new trace', () => {
  const { begin } = setup();
  const invalid = [
    '',
    'x',
    `00-${TRACE_ID}-${PARENT_ID}`,
    `ff-${TRACE_ID}-${PARENT_ID}-01`,
    `00-${TRACE_ID.toUpperCase()}-${PARENT_ID}-01`,
    `00-${'0'.repeat(32)}-${PARENT_ID}-01`,
    `00-${TRACE_ID}-${'0'.repeat(16)}-01`,
    `00-${TRACE_ID}-${PARENT_ID}-01-more`,
    `00-${TRACE_ID}-${PARENT_ID}-01, 00-${TRACE_ID}-${PARENT_ID}-01`,
    `01-${TRACE_ID}-${PARENT_ID}-01-more, 00-${TRACE_ID}-${PARENT_ID}-01`,
  ];
  for (const traceparent of invalid) {
    const found = trace.getSpanContext(begin({ traceparent, tracestate: 'a=b' }));
    assert.deepEqual(found, { ...DERIVED, traceFlags: 1 }, traceparent);
  }
  const later = begin({ traceparent: `01-${TRACE_ID}-${PARENT_ID}-01-more` });
  assert.equal(trace.getSpanContext(later)?.traceId, TRACE_ID, 'a later version may have more');
});

test('what no span can carry does not throw into the program', () => {
  const { provider, reader } = setup();
  const bytes = new Uint8Array(8);
  const span = provider.getTracer('app').startSpan('work');
  span.setAttribute('bytes', bytes as never);
  span.addLink({ context: {} as never });
  structuredClone(bytes, { transfer: [bytes.buffer] });
  span.end();
  assert.equal(reader.spans()[0]?.name, 'work');
});

test('changes of the span of a request are records', () => {
  const { begin, reader } = setup();
  const span = trace.getSpan(begin()) ?? assert.fail();
  span.setAttribute('user', 'ann').setAttributes({ a: 1, bad: 10n, b: [true] });
  span.setStatus({ code: SpanStatusCode.ERROR, message: 'no' });
  span.updateName('new name');
  span.addEvent('event', { c: 0.5 }, [1_000_000_000, 5]);
  span.addLink({
    context: { traceId: TRACE_ID, spanId: PARENT_ID, traceFlags: 0, isRemote: true },
    attributes: { d: null },
  });
  span.recordException('thrown', [1_000_000_001, 0]);
  span.end();
  assert.ok(span.isRecording(), 'the response ends the span');
  const changes = reader.changes();
  assert.deepEqual([...new Set(changes.map(({ place }) => place.join(' ')))], ['7 2 40']);
  const event = (
    name: string,
    seconds: number,
    nanos: number,
    key: string,
    value: object,
  ): object => ({
    event: {
      time: { isEpoch: true, seconds, nanos },
      name,
      attributes: [{ key, value }],
      droppedAttributesCount: 0,
    },
  });
  assert.deepEqual(
    changes.map(({ change }) => change),
    [
      { attributes: [{ key: 'user', value: { stringValue: 'ann' } }] },
      { attributes: [{ key: 'a', value: { intValue: 1 } }] },
      { attributes: [{ key: 'b', value: { arrayValue: { values: [{ boolValue: true }] } } }] },
      { status: 2, message: 'no' },
      { name: 'new name' },
      event('event', 1_000_000_000, 5, 'c', { doubleValue: 0.5 }),
      {
        link: {
          traceId: TRACE_ID,
          spanId: PARENT_ID,
          flags: 0x300,
          traceState: '',
          attributes: [{ key: 'd', value: {} }],
          droppedAttributesCount: 0,
        },
      },
      event('exception', 1_000_000_001, 0, 'exception.message', { stringValue: 'thrown' }),
    ],
  );
});

test('a span of a request takes no changes once its response is closed', () => {
  const { begin, reader, response } = setup();
  const span = trace.getSpan(begin()) ?? assert.fail();
  response.closed = true;
  assert.equal(span.isRecording(), false);
  span.setAttribute('a', 1).addEvent('late').updateName('late');
  assert.deepEqual(reader.read(), []);
});

test('an unsampled request only passes its trace on', () => {
  const { begin, provider, reader } = setup();
  const request = begin({ traceparent: `00-${TRACE_ID}-${PARENT_ID}-00` });
  const span = trace.getSpan(request) ?? assert.fail();
  assert.equal(span.isRecording(), false);
  assert.deepEqual(span.spanContext(), {
    traceId: TRACE_ID,
    spanId: DERIVED.spanId,
    traceFlags: 0,
  });
  span.setAttribute('a', 1);
  const child = provider.getTracer('app').startSpan('child', {}, request);
  assert.equal(child.isRecording(), false);
  assert.equal(child.spanContext().traceId, TRACE_ID);
  child.end();
  assert.deepEqual(reader.read(), []);
});

test('the share of the sampled traces is that of the SDK', () => {
  for (const ratio of [0, 0.01, 0.3, 0.5, 0.999, 1, -1, 2, NaN]) {
    const sampling = new HeadSampling({ ratio, isParentBased: true });
    const sampler = new TraceIdRatioBasedSampler(ratio);
    for (let count = 0; count < 300; count++) {
      const id = TraceId.random();
      const isSampled =
        sampler.shouldSample(ROOT_CONTEXT, id.hex).decision !== SamplingDecision.NOT_RECORD;
      assert.equal(sampling.flagsOf(id, undefined) === 1, isSampled, `${ratio} ${id.hex}`);
    }
  }
});

test('a sampler of the user decides when the request begins', () => {
  const seen: unknown[] = [];
  const sampler: Sampler = {
    shouldSample: (from, traceId, name, kind, attributes) => {
      seen.push([trace.getSpanContext(from)?.spanId, traceId, name, kind, { ...attributes }]);
      return { decision: SamplingDecision.RECORD_AND_SAMPLED, attributes: { rule: 'r' } };
    },
  };
  const { begin, reader } = setup({ sampling: sampler });
  begin({ traceparent: `00-${TRACE_ID}-${PARENT_ID}-00` });
  assert.deepEqual(seen, [
    [PARENT_ID, TRACE_ID, 'GET', SpanKind.SERVER, { 'http.request.method': 'GET' }],
  ]);
  const changes = reader.changes().map(({ change }) => change);
  assert.deepEqual(changes, [
    { sampled: 1 },
    { attributes: [{ key: 'rule', value: { stringValue: 'r' } }] },
  ]);
  const off = setup({ sampling: new AlwaysOffSampler() });
  assert.equal(off.begin().span.isRecording(), false);
  assert.deepEqual(
    off.reader.changes().map(({ change }) => change),
    [{ sampled: 0 }],
  );
  const recorded = setup({ sampling: createAlwaysRecordSampler(new AlwaysOffSampler()) });
  const span = recorded.begin().span;
  assert.equal(span.isRecording(), true);
  span.setAttribute('a', 1);
  assert.deepEqual(
    recorded.reader.changes().map(({ change }) => change),
    [{ sampled: 0 }],
    'a span that is recorded without being sampled is for processors alone',
  );
});

/** Notes what it sees. */
class Processor implements SpanProcessor {
  readonly seen: unknown[] = [];

  onStart(span: ReadableSpan & Span, parent: Context): void {
    this.seen.push([
      'start',
      span.name,
      { ...span.attributes },
      trace.getSpanContext(parent)?.spanId,
    ]);
    span.setAttribute('started', true);
  }

  onEnding(span: ReadableSpan & Span): void {
    span.setAttribute('ending', span.ended);
  }

  onEnd(span: ReadableSpan): void {
    assert.ok(span.duration[0] >= 0 && span.ended);
    assert.ok(Math.abs(span.startTime[0] - Date.now() / 1000) < 3600);
    this.seen.push([
      'end',
      span.name,
      { ...span.attributes },
      span.status,
      span.parentSpanContext?.spanId,
    ]);
  }

  async forceFlush(): Promise<void> {
    this.seen.push('flush');
  }

  async shutdown(): Promise<void> {
    this.seen.push('shutdown');
  }
}

test('processors see requests and their children', async () => {
  const processor = new Processor();
  const { begin, provider, response } = setup({ processors: [processor] });
  const request = begin({ traceparent: `00-${TRACE_ID}-${PARENT_ID}-01` });
  const child = provider.getTracer('app').startSpan('child', { attributes: { a: 1 } }, request);
  child.end();
  response.closed = true;
  onResponseEnd(request, 503, { 'http.route': '/users/:id' });
  onResponseEnd(request, 503);
  await provider.forceFlush();
  await provider.shutdown();
  const attributes = { 'http.request.method': 'GET', started: true };
  assert.deepEqual(processor.seen, [
    ['start', 'GET', { 'http.request.method': 'GET' }, PARENT_ID],
    ['start', 'child', { a: 1 }, DERIVED.spanId],
    ['end', 'child', { a: 1, started: true, ending: false }, { code: 0 }, DERIVED.spanId],
    [
      'end',
      'GET /users/:id',
      { ...attributes, 'http.response.status_code': 503, 'http.route': '/users/:id' },
      { code: SpanStatusCode.ERROR },
      PARENT_ID,
    ],
    'flush',
    'shutdown',
  ]);
});

test('a processor can be added later, and redact what a span has', () => {
  const { begin, provider, reader } = setup();
  const request = begin();
  provider.addSpanProcessor({
    onStart: () => {},
    onEnd: ({ attributes }) => {
      attributes['secret'] = 'REDACTED';
      delete attributes['worse'];
    },
    forceFlush: async () => {},
    shutdown: async () => {},
  });
  const span = provider.getTracer('app').startSpan('child', {}, request);
  span.setAttributes({ secret: 's', worse: 'w', fine: 'f' }).end();
  assert.deepEqual(reader.spans()[0]?.attributes, [
    { key: 'secret', value: { stringValue: 'REDACTED' } },
    { key: 'fine', value: { stringValue: 'f' } },
  ]);
});

test('a request is a context', () => {
  const { begin } = setup();
  const request = begin({ baggage: 'user=ann,tier=gold;p=1' });
  const key = Symbol('key');
  const set = request.setValue(key, 1);
  assert.equal(request.getValue(key), undefined);
  assert.equal(set.getValue(key), 1);
  assert.equal(request.startedSpan, undefined, 'a value makes no span');
  assert.equal(trace.getSpan(set), trace.getSpan(request));
  assert.equal(set.deleteValue(key).getValue(key), undefined);
  assert.equal(trace.getSpan(trace.deleteSpan(request)), undefined);
  assert.equal(trace.getSpan(trace.deleteSpan(set)), undefined);
  assert.equal(propagation.getBaggage(request)?.getEntry('user')?.value, 'ann');
  assert.equal(propagation.getBaggage(set)?.getEntry('tier')?.value, 'gold');
  assert.equal(propagation.getBaggage(propagation.deleteBaggage(set)), undefined);
  assert.equal(propagation.getBaggage(begin()), undefined);
  assert.equal(isTracingSuppressed(request), false);
  assert.equal(isTracingSuppressed(suppressTracing(request)), true);
  const other = trace.wrapSpanContext({ traceId: TRACE_ID, spanId: PARENT_ID, traceFlags: 1 });
  const nested = trace.setSpan(trace.setSpan(set, other), other);
  assert.equal(trace.getSpan(nested), other);
  assert.equal(nested.getValue(key), 1);
});

test('the instrumentation of a framework can set the route', () => {
  const { begin } = setup();
  const request = begin();
  assert.equal(request.route, undefined);
  const metadata = getRPCMetadata(request);
  assert.equal(metadata?.type, RPCType.HTTP);
  assert.equal(metadata.span, trace.getSpan(request));
  metadata.route = '/users/:id';
  assert.equal(request.route, '/users/:id');
});

test('a trace and its baggage leave with an outgoing request', () => {
  const { begin, provider } = setup();
  const request = begin({
    tracestate: 'a=b',
    traceparent: `00-${TRACE_ID}-${PARENT_ID}-01`,
    baggage: 'k=v',
  });
  const carrier: Record<string, string> = {};
  propagation.inject(request, carrier, defaultTextMapSetter);
  assert.deepEqual(carrier, {
    traceparent: `00-${TRACE_ID}-${DERIVED.spanId}-01`,
    tracestate: 'a=b',
    baggage: 'k=v',
  });
  const span = provider.getTracer('app').startSpan('client', { kind: SpanKind.CLIENT }, request);
  const ofChild: Record<string, string> = {};
  propagation.inject(trace.setSpan(request, span), ofChild);
  assert.equal(ofChild['traceparent'], `00-${TRACE_ID}-${span.spanContext().spanId}-01`);
  const suppressed = {};
  propagation.inject(suppressTracing(request), suppressed);
  assert.deepEqual(suppressed, {});
  const extracted = propagation.extract(ROOT_CONTEXT, carrier, defaultTextMapGetter);
  assert.equal(trace.getSpanContext(extracted)?.spanId, DERIVED.spanId);
  assert.equal(propagation.getBaggage(extracted)?.getEntry('k')?.value, 'v');
});

test('propagators are chosen by their names', () => {
  assert.deepEqual(createPropagator(['baggage', 'baggage']).fields(), ['baggage']);
  assert.deepEqual(createPropagator(['none']).fields(), []);
  assert.deepEqual(createPropagator(['tracecontext', 'baggage']).fields(), [
    'traceparent',
    'tracestate',
    'baggage',
  ]);
  assert.throws(() => createPropagator(['b3', 'toString']), /must be one of .*; got "b3"/);
  assert.throws(() => createPropagator(['toString']), /got "toString"/);
});
