import type { SpanLimits } from '@opentelemetry/sdk-trace';

const COUNT = 128;

/** Returns limits with the defaults of the specification for those that are missing. */
export function spanLimits(limits: SpanLimits = {}): Required<SpanLimits> {
  const length = limits.attributeValueLengthLimit ?? Infinity;
  return {
    attributeCountLimit: limits.attributeCountLimit ?? COUNT,
    // The SDK of OpenTelemetry ignores a limit of 0 too.
    attributeValueLengthLimit: length > 0 ? length : Infinity,
    eventCountLimit: limits.eventCountLimit ?? COUNT,
    linkCountLimit: limits.linkCountLimit ?? COUNT,
    attributePerEventCountLimit: limits.attributePerEventCountLimit ?? COUNT,
    attributePerLinkCountLimit: limits.attributePerLinkCountLimit ?? COUNT,
  };
}
