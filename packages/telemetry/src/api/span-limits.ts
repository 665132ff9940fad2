/** Limits of a span. More is dropped, and counted in the span. */
export interface SpanLimits {
  /** Attributes of a span: `OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT`, default 128. */
  attributeCountLimit: number;
  /** Characters of a text among the values: `OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT`, default Infinity. */
  attributeValueLengthLimit: number;
  /** Events of a span: `OTEL_SPAN_EVENT_COUNT_LIMIT`, default 128. */
  eventCountLimit: number;
  /** Links of a span: `OTEL_SPAN_LINK_COUNT_LIMIT`, default 128. */
  linkCountLimit: number;
  /** Attributes of an event: `OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT`, default 128. */
  attributePerEventCountLimit: number;
  /** Attributes of a link: `OTEL_LINK_ATTRIBUTE_COUNT_LIMIT`, default 128. */
  attributePerLinkCountLimit: number;
}

const COUNT = 128;

/** Returns limits with the defaults of the specification for those that are missing. */
export function spanLimits(limits: Partial<SpanLimits> = {}): SpanLimits {
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
