import type { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { RingWriter } from '../native/ring-writer.ts';
import { writeAttributes, type AttributeList } from '../native/values.ts';
import { KIND, SPAN } from '../native/wire.ts';
import { otlpFlags, type SpanIdentity } from './span-identity.ts';
import { writeEvent, type SpanEvent } from './span-event.ts';
import { stateOf, writeLink, type SpanLink } from './span-link.ts';
import { writeTime, type SpanTime } from './span-time.ts';

const NONE: readonly [] = [];

/** The facts of a span that a record has. */
export interface SpanFacts {
  readonly identity: SpanIdentity;
  readonly parent: SpanIdentity | undefined;
  readonly name: string;
  readonly kind: SpanKind;
  readonly startedAt: SpanTime;
  readonly endedAt: SpanTime;
  readonly statusCode: SpanStatusCode;
  readonly statusMessage: string;
  readonly eventList: readonly SpanEvent[] | undefined;
  readonly linkList: readonly SpanLink[] | undefined;
  readonly droppedAttributesCount: number;
  readonly droppedEventsCount: number;
  readonly droppedLinksCount: number;
}

/** Writes the record of a span that has ended. */
export function writeSpan(
  writer: RingWriter,
  span: SpanFacts,
  scope: string,
  attributes: AttributeList,
): void {
  const links = span.linkList ?? NONE;
  // Objects of users make these texts, so they are made before the record.
  const state = span.identity.state?.serialize() ?? '';
  const linkStates = links.length === 0 ? NONE : links.map((link) => stateOf(link.context));
  do {
    writer.start(KIND.SPAN);
    writeHead(writer, span);
    writer.shared(span.name);
    writer.shared(scope);
    writer.text(span.statusMessage);
    writer.text(state);
    writeAttributes(writer, attributes);
    const events = span.eventList ?? NONE;
    writer.word(events.length);
    for (const event of events) writeEvent(writer, event);
    writer.word(links.length);
    for (const [index, link] of links.entries()) writeLink(writer, link, linkStates[index] ?? '');
    writer.word(span.droppedAttributesCount);
    writer.word(span.droppedEventsCount);
    writer.word(span.droppedLinksCount);
  } while (writer.finish());
}

/** The words of `SPAN` before its fields. */
function writeHead(writer: RingWriter, span: SpanFacts): void {
  const { identity, parent } = span;
  // The first word is there.
  const at = writer.reserve(SPAN.STARTED_AT - 1) - 1;
  if (at >= 0) {
    const { ring } = writer;
    identity.trace.put(ring, at + SPAN.TRACE_ID);
    ring[at + SPAN.SPAN_ID] = identity.high;
    ring[at + SPAN.SPAN_ID + 1] = identity.low;
    ring[at + SPAN.PARENT_ID] = parent === undefined ? 0 : parent.high;
    ring[at + SPAN.PARENT_ID + 1] = parent === undefined ? 0 : parent.low;
    ring[at + SPAN.KIND] = span.kind + 1;
    ring[at + SPAN.STATUS] = span.statusCode;
    ring[at + SPAN.FLAGS] = otlpFlags(identity.flags, parent !== undefined && parent.isRemote);
  }
  writeTime(writer, span.startedAt);
  writeTime(writer, span.endedAt);
}
