import type { Attributes, Context, Link, Span } from '@opentelemetry/api';
import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { DeferContext, Delivery, JobSpans } from '../sink.ts';
import { messageOf, typeOf } from '../thrown.ts';

/** SDKs keep this many links of one span. */
const maxLinks = 128;

/* Names of systems in the conventions, where they differ from those of the sinks. */
const systems: Readonly<Record<string, string>> = { sqs: 'aws_sqs', sns: 'aws.sns' };

/**
 * Creates spans by the semantic conventions for messaging: `process NAME` around each run of a job in this process, and
 * `send SINK` around each batch that goes to a server. Each has a link to the span its jobs were deferred in; that of a
 * single job is its child as well.
 */
export function jobSpans(extract: (carrier: DeferContext) => Context): JobSpans {
  const tracer = trace.getTracer('@redline/defer');
  const linkOf = ({ context: carrier }: Delivery): Link[] => {
    const spanContext = carrier && trace.getSpanContext(extract(carrier));
    return spanContext === undefined ? [] : [{ context: spanContext }];
  };
  return {
    process(sink, deliveries, work) {
      const [first] = deliveries;
      const isOne = deliveries.length === 1;
      const isOfOneName = deliveries.every(({ job }) => job === first!.job);
      const destination = isOfOneName ? first!.job : sink;
      const attributes: Attributes = {
        'messaging.system': 'redline_defer',
        'messaging.operation.name': 'process',
        'messaging.operation.type': 'process',
        'messaging.destination.name': destination,
        'redline.defer.sink': sink,
        ...(isOne
          ? { 'messaging.message.id': first!.id, 'redline.defer.attempt': first!.attempt }
          : { 'messaging.batch.message_count': deliveries.length }),
      };
      const links = deliveries.slice(0, maxLinks).flatMap(linkOf);
      const kind = SpanKind.CONSUMER;
      const options = { kind, attributes, links, root: !isOne };
      const span = tracer.startSpan(`process ${destination}`, options);
      return within(span, work, () => undefined);
    },
    send(sink, kind, deliveries, work) {
      const attributes: Attributes = {
        'messaging.system': systems[kind] ?? kind,
        'messaging.operation.name': 'send',
        'messaging.operation.type': 'send',
        'messaging.destination.name': sink,
        'messaging.batch.message_count': deliveries.length,
      };
      const links = deliveries.slice(0, maxLinks).flatMap(linkOf);
      const options = { kind: SpanKind.CLIENT, attributes, links, root: true };
      const span = tracer.startSpan(`send ${sink}`, options);
      return within(span, work, ({ failure }) => failure?.error);
    },
  };
}

/** Runs work with the span active; the span ends when the work has, its promise included. */
function within<T>(span: Span, work: () => T, failureOf: (outcome: Awaited<T>) => unknown): T {
  const fail = (error: unknown): void => {
    span.setAttribute('error.type', typeOf(error));
    span.setStatus({
      code: SpanStatusCode.ERROR,
      message: messageOf(error),
    });
    span.end();
  };
  const end = (outcome: Awaited<T>): void => {
    const error = failureOf(outcome);
    if (error === undefined) span.end();
    else fail(error);
  };
  let outcome: T;
  try {
    outcome = context.with(trace.setSpan(context.active(), span), work);
  } catch (error) {
    fail(error);
    throw error;
  }
  if (outcome instanceof Promise) outcome.then(end, fail);
  else end(outcome as Awaited<T>);
  return outcome;
}
