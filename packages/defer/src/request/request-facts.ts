import type { IncomingHttpHeaders } from 'node:http';
import type { RequestFacts } from './scope.ts';

/** What a job takes along of its request: its id, and its trace as W3C Trace Context writes it. */
export function factsOf(
  { traceparent, tracestate }: IncomingHttpHeaders,
  requestId: string | undefined,
): RequestFacts {
  return { traceparent: single(traceparent), tracestate: single(tracestate), requestId };
}

function single(value: string | string[] | undefined): string | undefined {
  return typeof value === 'object' ? value[0] : value;
}
