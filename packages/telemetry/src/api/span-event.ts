import type { Attributes, Exception } from '@opentelemetry/api';
import { cleanSimpleAttributes } from '@opentelemetry/core';
import type { SpanLimits } from '@opentelemetry/sdk-trace';
import type { RingWriter } from '../native/ring-writer.ts';
import { writeAttributeObject } from './attribute-list.ts';
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
  limits: Required<SpanLimits>,
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

const TYPE = 'exception.type';
const MESSAGE = 'exception.message';
const STACK = 'exception.stacktrace';

/** Returns the attributes of the event of an exception; undefined if it has neither a type nor a message. */
export function exceptionAttributes(exception: Exception): Attributes | undefined {
  const attributes: Attributes = {};
  if (typeof exception === 'string') attributes[MESSAGE] = exception;
  // User code throws null too.
  else if (exception as unknown) {
    const { code, name, message, stack } = exception;
    if (code) attributes[TYPE] = code.toString();
    else if (name) attributes[TYPE] = name;
    if (message) attributes[MESSAGE] = message;
    if (stack) attributes[STACK] = stack;
  }
  return attributes[TYPE] || attributes[MESSAGE] ? attributes : undefined;
}
