import type { Attributes, Link, SpanContext } from '@opentelemetry/api';
import { cleanAttributes } from '@opentelemetry/core';
import type { SpanLimits } from '@opentelemetry/sdk-trace';
import { wordOfHex } from '../native/ids.ts';
import type { RingWriter } from '../native/ring-writer.ts';
import { writeAttributeObject } from './attribute-list.ts';
import { otlpFlags } from './span-identity.ts';

export interface SpanLink {
  readonly context: SpanContext;
  readonly attributes?: Attributes;
  readonly droppedAttributesCount?: number;
}

export function spanLink(link: Link, limits: Required<SpanLimits>): SpanLink {
  const cleaned = cleanAttributes(link.attributes, {
    attributeCountLimit: limits.attributePerLinkCountLimit,
    attributeValueLengthLimit: limits.attributeValueLengthLimit,
  });
  return { context: link.context, ...cleaned };
}

export function spanLinks(
  links: readonly Link[] | undefined,
  limits: Required<SpanLimits>,
): SpanLink[] {
  return links === undefined ? [] : links.map((link) => spanLink(link, limits));
}

/** @param state the text of its trace state: a user's object makes it, so it is made before the record */
export function writeLink(writer: RingWriter, link: SpanLink, state: string): void {
  // Ids that a program leaves out are zeros.
  const { traceId = '', spanId = '', traceFlags, isRemote } = link.context;
  for (let at = 0; at < 32; at += 8) writer.word(wordOfHex(traceId, at));
  for (let at = 0; at < 16; at += 8) writer.word(wordOfHex(spanId, at));
  writer.word(otlpFlags(traceFlags, isRemote === true));
  writer.text(state);
  writeAttributeObject(writer, link.attributes, link.droppedAttributesCount);
}

export function stateOf(context: SpanContext): string {
  return context.traceState?.serialize() ?? '';
}
