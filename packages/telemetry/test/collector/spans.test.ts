import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, type Span } from '@opentelemetry/api';
import { TraceState } from '@opentelemetry/core';
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { TracerProvider } from '../../src/api/tracer-provider.ts';
import { collectorSettings } from '../../src/collector-settings.ts';
import { readConfig } from '../../src/config/config.ts';
import { findAddon } from '../../src/native/addon.ts';
import { createRing } from '../../src/native/ring.ts';
import { RingWriter } from '../../src/native/ring-writer.ts';
import { spansOf } from '../otlp.ts';

const addon = findAddon();
const skip = typeof addon === 'string' && addon;

/** Programs that use all of the API. */
const programs: Record<string, (start: ReturnType<typeof tracerOf>) => Span> = {
  'a name alone': (start) => start('plain'),
  'values of all types': (start) =>
    start('types', {
      attributes: {
        text: 'äöü \u{1f680}',
        empty: '',
        integer: -42,
        large: 2 ** 53,
        huge: 2 ** 70,
        double: 0.1,
        flag: true,
        no: false,
        texts: ['a', '', 'ä'],
        numbers: [1, 2.5, -3],
        flags: [true, false],
        none: [],
        bytes: new Uint8Array([1, 2, 255]),
        map: { nested: { deep: [1, 'x'] }, other: 'y' },
        nothing: null,
      } as never,
    }),
  'times of the user': (start) =>
    start('times', { startTime: new Date(1_700_000_000_123) }).addEvent(
      'event',
      { a: 1 },
      [1_700_000_000, 500],
    ),
  'events and an exception': (start) => {
    const span = start('events');
    span.addEvent('first', { one: 1 });
    for (let event = 0; event < 130; event++) span.addEvent(`event ${event}`);
    span.recordException(new TypeError('broken'));
    return span.setStatus({ code: SpanStatusCode.ERROR, message: 'why' });
  },
  'links with a trace state': (start) =>
    start('links', {
      kind: SpanKind.CONSUMER,
      links: [
        {
          context: {
            traceId: '0af7651916cd43dd8448eb211c80319c',
            spanId: 'b7ad6b7169203331',
            traceFlags: 1,
            isRemote: true,
            traceState: new TraceState('a=b,c=d'),
          },
          attributes: { x: 'y' },
        },
      ],
    }),
  'more attributes than the limit': (start) => {
    const span = start('many');
    for (let key = 0; key < 140; key++) span.setAttribute(`key ${key}`, key);
    return span.addEvent(
      'event',
      Object.fromEntries(Array.from({ length: 140 }, (_, n) => [n, n])),
    );
  },
  'a remote parent': (start) =>
    start(
      'child',
      { kind: SpanKind.CLIENT },
      {
        traceId: '0af7651916cd43dd8448eb211c80319c',
        spanId: 'b7ad6b7169203331',
        traceFlags: 1,
        isRemote: true,
        traceState: new TraceState('vendor=1'),
      },
    ),
};

type Start = (
  name: string,
  options?: Parameters<ReturnType<TracerProvider['getTracer']>['startSpan']>[1],
  parent?: Parameters<typeof trace.setSpanContext>[1],
) => Span;

function tracerOf(provider: TracerProvider): Start {
  const tracer = provider.getTracer('library', '1.2', { schemaUrl: 'https://schema' });
  return (name, options, parent) =>
    tracer.startSpan(
      name,
      options,
      parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent),
    );
}

describe("spans are encoded as OpenTelemetry's own serializer does", { skip }, () => {
  if (typeof addon === 'string') return;
  const resource = resourceFromAttributes({ 'service.name': 'shop', pid: 7, args: ['a', 'b'] });
  const collector = new addon.Collector(collectorSettings(readConfig({}), resource.attributes));
  const ring = createRing();
  const source = collector.addSource(undefined, ring);
  const ended: ReadableSpan[] = [];
  const provider = new TracerProvider({
    writer: new RingWriter(ring, () => collector.wake()),
    resource,
    processors: [
      {
        onStart() {},
        onEnd: (span) => void ended.push(span),
        async forceFlush() {},
        async shutdown() {},
      },
    ],
  });
  after(() => collector.removeSource(source));

  for (const [name, program] of Object.entries(programs)) {
    // Twice: texts have numbers the second time.
    for (const round of ['first', 'second']) {
      test(`${name}, ${round} time`, () => {
        program(tracerOf(provider)).end();
        collector.drain();
        const encoded = collector.takeSpans(1_000_000, 100);
        assert.ok(encoded, 'a span waits');
        const expected = ProtobufTraceSerializer.serializeRequest([ended.pop()!])!;
        const [ours] = comparable(encoded);
        const [theirs] = comparable(Buffer.from(expected));
        assert.deepEqual(ours, theirs);
      });
    }
  }

  test('one that a limit of bytes holds back is taken later', () => {
    for (let span = 0; span < 10; span++) tracerOf(provider)('held').end();
    collector.drain();
    assert.equal(spansOf(collector.takeSpans(1_000_000, 4)!).length, 4);
    assert.equal(spansOf(collector.takeSpans(1_000_000, 100)!).length, 6);
    assert.equal(collector.takeSpans(1_000_000, 100), null);
  });
});

/** Times that the user gave; those of the clock differ by how each side finds the time of day. */
function comparable(request: Buffer): unknown[] {
  const given = (time: bigint): bigint | undefined =>
    time < 1_750_000_000_000_000_000n ? time : undefined;
  return spansOf(request).map((span) => ({
    ...span,
    startedAt: given(span.startedAt),
    endedAt: given(span.endedAt),
    events: span.events.map((event) => ({ ...event, time: given(event.time) })),
  }));
}
