import type { Attributes } from '@opentelemetry/api';
import { cleanSimpleAttributes } from '@opentelemetry/core';
import type { RingWriter } from '../native/ring-writer.ts';
import { writeAttributeObject } from './attribute-object.ts';
import type { SpanLimits } from './span-limits.ts';
import { writeTime, type SpanTime } from './span-time.ts';

export interface SpanEvent {
  readonly name: string;
  readonly at: SpanTime;
  readonly attributes?: Attributes;
  readonly droppedAttributesCount?: number;
}

export function spanEvent(
  name: string,
  at: SpanTime,
  attributes: unknown,
  limits: SpanLimits,
): SpanEvent {
  const cleaned = cleanSimpleAttributes(attributes, {
    attributeCountLimit: limits.attributePerEventCountLimit,
    attributeValueLengthLimit: limits.attributeValueLengthLimit,
  });
  return { name: String(name), at, ...cleaned };
}

export function writeEvent(writer: RingWriter, event: SpanEvent): void {
  writeTime(writer, event.at);
  writer.shared(event.name);
  writeAttributeObject(writer, event.attributes, event.droppedAttributesCount);
}
