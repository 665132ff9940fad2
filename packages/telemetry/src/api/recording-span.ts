import {
  diag,
  SpanKind,
  SpanStatusCode,
  type Attributes,
  type Exception,
  type HrTime,
  type Link,
  type Span,
  type SpanContext,
  type SpanOptions,
  type SpanStatus,
  type TimeInput,
} from '@opentelemetry/api';
import { hrTimeDuration, isTimeInput, type InstrumentationScope } from '@opentelemetry/core';
import type { Resource } from '@opentelemetry/resources';
import type { ReadableSpan, TimedEvent } from '@opentelemetry/sdk-trace';
import { now } from '../native/clock.ts';
import {
  addAttributes,
  listOf,
  objectOf,
  OVER_LIMIT,
  setAttribute,
  type AttributeList,
} from './attribute-list.ts';
import { exceptionAttributes, spanEvent, type SpanEvent } from './span-event.ts';
import { OwnSpan, type SpanIdentity } from './span-identity.ts';
import { spanLink, type SpanLink } from './span-link.ts';
import { writeSpan, type SpanFacts } from './span-record.ts';
import type { SpanScope } from './span-scope.ts';
import {
  epochAfter,
  epochStart,
  epochTime,
  givenTime,
  nowOnClockOf,
  type SpanTime,
} from './span-time.ts';

const SECOND_NANOS = 1_000_000_000;
/** A Date is in whole milliseconds: by this much an end by the other clock may seem to precede the start. */
const CLOCKS_DIFFER_NANOS = 1_000_000;

/** A span that is recorded. Its state is in plain fields and flat lists; what a processor reads is made when it reads it. */
export class RecordingSpan extends OwnSpan implements Span, ReadableSpan, SpanFacts {
  readonly scope: SpanScope;
  readonly parent: SpanIdentity | undefined;
  readonly kind: SpanKind;
  name: string;
  startedAt: SpanTime;
  endedAt: SpanTime = 0;
  ended = false;
  statusCode: SpanStatusCode = SpanStatusCode.UNSET;
  statusMessage = '';
  eventList: SpanEvent[] | undefined = undefined;
  linkList: SpanLink[] | undefined = undefined;
  droppedAttributesCount = 0;
  droppedEventsCount = 0;
  droppedLinksCount = 0;
  readonly #list: AttributeList = [];
  /** The same attributes, once something has read them. It may have changed them. */
  #attributes: Attributes | undefined = undefined;
  #startTime: HrTime | undefined = undefined;

  constructor(
    scope: SpanScope,
    identity: SpanIdentity,
    parent: SpanIdentity | undefined,
    name: string,
    options: SpanOptions | undefined,
  ) {
    super(identity);
    this.scope = scope;
    this.parent = parent;
    this.name = typeof name === 'string' ? name : String(name);
    if (options === undefined) {
      this.kind = SpanKind.INTERNAL;
      this.startedAt = now();
    } else {
      this.kind = options.kind ?? SpanKind.INTERNAL;
      this.startedAt = givenTime(options.startTime) ?? now();
    }
  }

  /** Adds what a span has when it starts. Of too many links the last ones are kept. */
  startWith(attributes: unknown, links: SpanLink[]): void {
    const { limits } = this.scope.settings;
    if (links.length > 0) {
      this.droppedLinksCount = Math.max(0, links.length - limits.linkCountLimit);
      this.linkList = links.slice(this.droppedLinksCount);
    }
    if (typeof attributes !== 'object' || attributes === null) return;
    this.droppedAttributesCount = addAttributes(
      this.#list,
      attributes as Attributes,
      limits.attributeCountLimit,
      limits.attributeValueLengthLimit,
    );
  }

  setAttribute(key: string, value: unknown): this {
    if (!this.#refuses()) this.keepAttribute(key, value);
    return this;
  }

  setAttributes(attributes: Attributes): this {
    for (const key in attributes) {
      if (Object.hasOwn(attributes, key)) this.setAttribute(key, attributes[key]);
    }
    return this;
  }

  addEvent(name: string, attributesOrTime?: Attributes | TimeInput, time?: TimeInput): this {
    if (this.#refuses()) return this;
    const { limits } = this.scope.settings;
    if (limits.eventCountLimit === 0) {
      diag.warn('No events allowed.');
      this.droppedEventsCount++;
      return this;
    }
    const isTime = isTimeInput(attributesOrTime);
    const given = givenTime(isTime && !isTimeInput(time) ? (attributesOrTime as TimeInput) : time);
    const at = given ?? nowOnClockOf(this.startedAt);
    const attributes = isTime ? undefined : attributesOrTime;
    this.keepEvent(spanEvent(name, at, attributes, limits));
    return this;
  }

  addLink(link: Link): this {
    if (this.#refuses()) return this;
    const { limits } = this.scope.settings;
    if (limits.linkCountLimit === 0) this.droppedLinksCount++;
    else this.keepLink(spanLink(link, limits));
    return this;
  }

  addLinks(links: Link[]): this {
    for (const link of links) this.addLink(link);
    return this;
  }

  setStatus(status: SpanStatus): this {
    if (this.#refuses()) return this;
    const { code, message } = status;
    if (code === SpanStatusCode.UNSET || this.statusCode === SpanStatusCode.OK) return this;
    const isText = code === SpanStatusCode.ERROR && typeof message === 'string';
    if (code === SpanStatusCode.ERROR && !isText && message != null) {
      diag.warn(`Dropping invalid status.message of type '${typeof message}', expected 'string'`);
    }
    this.keepStatus(code, isText ? message : '');
    return this;
  }

  updateName(name: string): this {
    if (!this.#refuses()) this.keepName(String(name));
    return this;
  }

  recordException(exception: Exception, time?: TimeInput): void {
    const attributes = exceptionAttributes(exception);
    if (attributes === undefined) diag.warn(`Failed to record an exception ${String(exception)}`);
    else this.addEvent('exception', attributes, time);
  }

  end(endTime?: TimeInput): void {
    if (this.#refuses()) {
      const { traceId, spanId } = this.spanContext();
      diag.error(`${this.name} ${traceId}-${spanId} - You can only call end() on a span once.`);
      return;
    }
    if (endTime === undefined && typeof this.startedAt === 'number') this.endedAt = now();
    else this.#endAt(endTime);
    this.close();
    const { settings, text } = this.scope;
    if ((this.identity.flags & 1) === 0) return;
    writeSpan(
      settings.writer,
      this,
      text,
      this.#attributes ? listOf(this.#attributes) : this.#list,
    );
  }

  isRecording(): boolean {
    return !this.ended;
  }

  // Below: what processors and exporters read.

  get attributes(): Attributes {
    this.#attributes ??= objectOf(this.#list);
    return this.#attributes;
  }

  get events(): TimedEvent[] {
    const start = this.startTime;
    return (this.eventList ?? []).map(({ at, ...event }) => ({
      ...event,
      time: epochAfter(start, this.startedAt, at),
    }));
  }

  get links(): Link[] {
    this.linkList ??= [];
    return this.linkList;
  }

  get status(): SpanStatus {
    const { statusCode: code, statusMessage: message } = this;
    return message === '' ? { code } : { code, message };
  }

  get startTime(): HrTime {
    this.#startTime ??= epochStart(this.startedAt);
    return this.#startTime;
  }

  get endTime(): HrTime {
    return this.ended ? epochAfter(this.startTime, this.startedAt, this.endedAt) : [0, 0];
  }

  get duration(): HrTime {
    return this.ended ? hrTimeDuration(this.startTime, this.endTime) : [-1, -1];
  }

  get parentSpanContext(): SpanContext | undefined {
    return this.parent?.context;
  }

  get resource(): Resource {
    return this.scope.settings.resource;
  }

  get instrumentationScope(): InstrumentationScope {
    return this.scope.instrumentation;
  }

  // Below: how changes are kept, after they were validated.

  /** @returns the value as it is kept; undefined if it is not */
  protected keepAttribute(key: string, value: unknown): unknown {
    const { attributeCountLimit, attributeValueLengthLimit } = this.scope.settings.limits;
    const kept = setAttribute(
      this.#list,
      key,
      value,
      attributeCountLimit,
      attributeValueLengthLimit,
    );
    if (kept === OVER_LIMIT) {
      this.droppedAttributesCount++;
      if (this.droppedAttributesCount === 1) diag.warn('Dropping extra attributes.');
      return undefined;
    }
    if (kept !== undefined && this.#attributes) this.#attributes[key] = kept;
    return kept;
  }

  protected keepEvent(event: SpanEvent): void {
    const { eventCountLimit } = this.scope.settings.limits;
    this.eventList ??= [];
    this.eventList.push(event);
    if (this.eventList.length <= eventCountLimit) return;
    if (this.droppedEventsCount === 0) diag.debug('Dropping extra events.');
    this.eventList.shift();
    this.droppedEventsCount++;
  }

  protected keepLink(link: SpanLink): void {
    const { linkCountLimit } = this.scope.settings.limits;
    this.linkList ??= [];
    this.linkList.push(link);
    if (this.linkList.length <= linkCountLimit) return;
    if (this.droppedLinksCount === 0) diag.debug('Dropping extra links.');
    this.linkList.shift();
    this.droppedLinksCount++;
  }

  protected keepStatus(code: SpanStatusCode, message: string): void {
    this.statusCode = code;
    this.statusMessage = message;
  }

  protected keepName(name: string): void {
    this.name = name;
  }

  /** True if changes come too late. */
  protected hasEnded(): boolean {
    return this.ended;
  }

  /** Ends the span for processors. */
  protected close(): void {
    if (this.droppedEventsCount > 0) {
      diag.warn(`Dropped ${this.droppedEventsCount} events because eventCountLimit reached`);
    }
    if (this.droppedLinksCount > 0) {
      diag.warn(`Dropped ${this.droppedLinksCount} links because linkCountLimit reached`);
    }
    const { processor } = this.scope.settings;
    processor?.onEnding?.(this);
    this.ended = true;
    processor?.onEnd(this);
  }

  /** Ends at a time that a user gives, or now if the user gave the start. */
  #endAt(endTime: TimeInput | undefined): void {
    const given = givenTime(endTime) ?? nowOnClockOf(this.startedAt);
    if (typeof this.startedAt === 'number' && typeof given === 'number') {
      this.endedAt = given;
      if (given >= this.startedAt) return;
    } else {
      const areOfTwoClocks = typeof this.startedAt === 'number' || typeof given === 'number';
      // The start is one of the same clock from now on, or an end in the same millisecond would precede it.
      this.startedAt = this.startTime;
      this.endedAt = epochTime(given);
      const [seconds, nanos] = hrTimeDuration(this.startedAt, this.endedAt);
      if (seconds >= 0) return;
      if (areOfTwoClocks && seconds === -1 && nanos >= SECOND_NANOS - CLOCKS_DIFFER_NANOS) {
        this.endedAt = this.startedAt;
        return;
      }
    }
    diag.warn(
      'Inconsistent start and end time, startTime > endTime. Setting span duration to 0ms.',
      this.startedAt,
      this.endedAt,
    );
    this.endedAt = this.startedAt;
  }

  #refuses(): boolean {
    if (!this.hasEnded()) return false;
    const { traceId, spanId } = this.spanContext();
    const ended = `ended Span {traceId: ${traceId}, spanId: ${spanId}}`;
    diag.warn(
      `Cannot execute the operation on ${ended}`,
      new Error(`Operation attempted on ${ended}`),
    );
    return true;
  }
}
