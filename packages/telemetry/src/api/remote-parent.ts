import { parseTraceParent, TraceState } from '@opentelemetry/core';
import type { IncomingHttpHeaders } from 'node:http';
import { SpanIdentity } from './span-identity.ts';

/** Returns the span of the client that a request names; undefined if it names none, or not as the specification wants. */
export function remoteParent(headers: IncomingHttpHeaders): SpanIdentity | undefined {
  const { traceparent, tracestate } = headers;
  // A comma joins two headers, of which a later version would be read as one.
  if (typeof traceparent !== 'string' || traceparent.includes(',')) return undefined;
  const context = parseTraceParent(traceparent);
  if (context === null) return undefined;
  context.isRemote = true;
  if (tracestate !== undefined && tracestate.length > 0) {
    context.traceState = new TraceState(
      typeof tracestate === 'string' ? tracestate : tracestate.join(','),
    );
  }
  return SpanIdentity.of(context);
}
