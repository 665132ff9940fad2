// The engine records the traces that the SDK's sampler records.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { ROOT_CONTEXT } from '@opentelemetry/api';
import { SamplingDecision, TraceIdRatioBasedSampler } from '@opentelemetry/sdk-trace';
import { type Collector, loadAddon } from '../native.cjs';
import { decodeSpans } from './decode.ts';
import { Ring } from './write.ts';

const ratio = 0.3;
const collector = ((): Collector | undefined => {
  try {
    return new (loadAddon().Collector)({
      resource: [],
      maxBytes: 1 << 24,
      sampler: 'ratio',
      ratio,
      isParentBased: false,
      attributeCountLimit: 128,
      attributeValueLengthLimit: 0xffffffff,
      redactedParameters: [],
      boundaries: [],
      isDelta: false,
    });
  } catch {
    return undefined;
  }
})();

test(
  'a share of all traces is that of the SDK',
  { skip: collector === undefined && 'no addon is built here' },
  () => {
    const ring = new Ring(1 << 18);
    collector!.addSource(null, ring.words);
    const sampler = new TraceIdRatioBasedSampler(ratio);
    const traceIds = Array.from({ length: 1_000 }, () => randomBytes(16).toString('hex'));
    for (const [number, traceId] of traceIds.entries()) {
      const place = [number, 1, 1] as const;
      ring.begin(place, `GET /\r\ntraceparent: 00-${traceId}-00000000000000ff-00\r\n`);
      ring.end(place, 200);
    }
    collector!.drain();
    const { spans } = decodeSpans(collector!.takeSpans(1 << 24, 10_000)!);
    const isSampled = (traceId: string): boolean =>
      sampler.shouldSample(ROOT_CONTEXT, traceId).decision === SamplingDecision.RECORD_AND_SAMPLED;
    const expected = traceIds.filter(isSampled);
    assert.ok(expected.length > 100 && expected.length < 500);
    assert.deepEqual(
      spans.map(({ traceId }) => traceId),
      expected,
    );
  },
);
