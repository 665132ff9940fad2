import type { IncomingHttpHeaders } from 'node:http';
import type { RequestFacts } from './scope.ts';

/** Returns the facts of a request that a job carries: its id, and its trace in the format of W3C Trace Context. */
export function factsOf(
  { traceparent, tracestate }: IncomingHttpHeaders,
  requestId: string | undefined,
): RequestFacts {
  return { traceparent: single(traceparent), tracestate: single(tracestate), requestId };
}

function single(value: string | string[] | undefined): string | undefined {
  return typeof value === 'object' ? value[0] : value;
}
