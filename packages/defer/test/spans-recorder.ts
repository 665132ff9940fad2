import { randomBytes } from 'node:crypto';
import {
  context,
  propagation,
  trace,
  TraceFlags,
  type Attributes,
  type Context,
  type Link,
  type Span,
  type SpanContext,
  type SpanOptions,
  type SpanStatus,
  type Tracer,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';

/** A span as an exporter would get it. */
export class RecordedSpan implements Span {
  readonly name: string;
  readonly kind: SpanOptions['kind'];
  readonly links: readonly Link[];
  readonly attributes: Attributes;
  readonly parentSpanId: string | undefined;
  status: SpanStatus | undefined;
  isEnded = false;
  readonly #context: SpanContext;

  constructor(name: string, options: SpanOptions, parent: SpanContext | undefined) {
    this.name = name;
    this.kind = options.kind;
    this.links = options.links ?? [];
    this.attributes = { ...options.attributes };
    this.parentSpanId = parent?.spanId;
    this.#context = {
      traceId: parent?.traceId ?? randomBytes(16).toString('hex'),
      spanId: randomBytes(8).toString('hex'),
      traceFlags: TraceFlags.SAMPLED,
    };
  }

  spanContext(): SpanContext {
    return this.#context;
  }

  setAttribute(key: string, value: Attributes[string]): this {
    this.attributes[key] = value;
    return this;
  }

  setStatus(status: SpanStatus): this {
    this.status = status;
    return this;
  }

  end(): void {
    this.isEnded = true;
  }

  isRecording(): boolean {
    return !this.isEnded;
  }

  setAttributes = (): this => this;
  addEvent = (): this => this;
  addLink = (): this => this;
  addLinks = (): this => this;
  updateName = (): this => this;
  recordException = (): void => {};
}

/** Registers what an SDK registers, and keeps every span of the process. */
export function recordSpans(): RecordedSpan[] {
  const spans: RecordedSpan[] = [];
  const startSpan = (name: string, options: SpanOptions = {}, of = context.active()): Span => {
    const parent = options.root === true ? undefined : trace.getSpanContext(of);
    const span = new RecordedSpan(name, options, parent);
    spans.push(span);
    return span;
  };
  const tracer: Tracer = {
    startSpan,
    startActiveSpan: (name: string, ...rest: unknown[]) => {
      const work = rest.pop() as (span: Span) => never;
      const [options = {}, of = context.active()] = rest as [SpanOptions?, Context?];
      const span = startSpan(name, options, of);
      return context.with(trace.setSpan(of, span), () => work(span));
    },
  };
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider({ getTracer: () => tracer });
  return spans;
}
