import type { IncomingHttpHeaders } from 'node:http';

/** The trace a request belongs to, as W3C Trace Context writes it. */
export function traceOf(headers: IncomingHttpHeaders): {
  traceparent: string | undefined;
  tracestate: string | undefined;
} {
  const { traceparent, tracestate } = headers;
  return { traceparent: single(traceparent), tracestate: single(tracestate) };
}

function single(value: string | string[] | undefined): string | undefined {
  return typeof value === 'object' ? value[0] : value;
}
