import type { SpanOptions, SpanStatusCode } from '@opentelemetry/api';
import { now } from '../native/clock.ts';
import type { RingWriter } from '../native/ring-writer.ts';
import { writeAttributes } from '../native/values.ts';
import { CHANGE, KIND } from '../native/wire.ts';
import { RecordingSpan } from './recording-span.ts';
import type { RequestContext } from './request-context.ts';
import { writeEvent, type SpanEvent } from './span-event.ts';
import type { SpanIdentity } from './span-identity.ts';
import { stateOf, writeLink, type SpanLink } from './span-link.ts';
import type { SpanScope } from './span-scope.ts';

/** The span of a request. The engine's facts are its record; this object adds changes, and the response's end is its own. */
export class ServerSpan extends RecordingSpan {
  readonly #context: RequestContext;
  readonly #isSampled: boolean;

  constructor(
    scope: SpanScope,
    identity: SpanIdentity,
    parent: SpanIdentity | undefined,
    context: RequestContext,
    options: SpanOptions,
  ) {
    super(scope, identity, parent, context.request.method ?? 'GET', options);
    this.#context = context;
    this.#isSampled = (identity.flags & 1) !== 0;
  }

  /** Does nothing: the span ends with the response. */
  override end(): void {}

  override isRecording(): boolean {
    return !this.hasEnded();
  }

  /** Ends the span for processors. */
  endWithResponse(): void {
    if (this.ended) return;
    this.endedAt = now();
    this.close();
  }

  /** Sets an attribute that the record has without a change. */
  setKnownAttribute(key: string, value: unknown): void {
    super.keepAttribute(key, value);
  }

  /** Sets a status that the record has without a change. */
  setKnownStatus(code: SpanStatusCode): void {
    super.keepStatus(code, '');
  }

  /** Sets a name that the record has without a change. */
  setKnownName(name: string): void {
    super.keepName(name);
  }

  protected override hasEnded(): boolean {
    return this.ended || this.#context.response.closed;
  }

  protected override keepAttribute(key: string, value: unknown): unknown {
    const kept = super.keepAttribute(key, value);
    if (kept !== undefined) {
      this.#change(CHANGE.ATTRIBUTES, (writer) => writeAttributes(writer, [key, kept]));
    }
    return kept;
  }

  protected override keepEvent(event: SpanEvent): void {
    super.keepEvent(event);
    this.#change(CHANGE.EVENT, (writer) => writeEvent(writer, event));
  }

  protected override keepLink(link: SpanLink): void {
    super.keepLink(link);
    const state = stateOf(link.context);
    this.#change(CHANGE.LINK, (writer) => writeLink(writer, link, state));
  }

  protected override keepStatus(code: SpanStatusCode, message: string): void {
    super.keepStatus(code, message);
    this.#change(CHANGE.STATUS, (writer) => {
      writer.word(code);
      writer.text(message);
    });
  }

  protected override keepName(name: string): void {
    super.keepName(name);
    this.#change(CHANGE.NAME, (writer) => writer.shared(name));
  }

  #change(operation: number, writeFields: (writer: RingWriter) => void): void {
    if (this.#isSampled) writeChange(this.#context, operation, writeFields);
  }
}

/** Writes a change of a request's span. */
export function writeChange(
  context: RequestContext,
  operation: number,
  writeFields: (writer: RingWriter) => void,
): void {
  const { writer } = context.spans;
  do {
    writer.start(KIND.CHANGE);
    writer.word(context.slot);
    writer.word(context.generation);
    writer.word(context.sequence);
    writer.word(operation);
    writeFields(writer);
  } while (writer.finish());
}
