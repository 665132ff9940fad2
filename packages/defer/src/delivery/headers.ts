import type { DeferContext, Delivery } from '../sink.ts';
import { wellFormed } from './identity.ts';

/** Returns the headers of a message, under the names that every sink uses; consumers find their trace by them. */
export function headersOf(delivery: Delivery): Record<string, string> {
  const headers: Record<string, string> = {
    'defer-id': delivery.id,
    'defer-job': delivery.job,
    'defer-at': String(delivery.deferredAtMs),
  };
  if (delivery.key !== undefined) headers['defer-key'] = wellFormed(delivery.key);
  for (const [name, value] of contextHeaders(delivery.context ?? {})) headers[name] = value;
  return headers;
}

export function contextHeaders(context: DeferContext): [name: string, value: string][] {
  const headers: [string, string][] = [];
  for (const name in context) {
    const value = context[name];
    if (value !== undefined) headers.push([contextName(name), value]);
  }
  return headers;
}

/** Keeps W3C names; names of the app cannot replace those of this package. */
function contextName(name: string): string {
  if (name === 'traceparent' || name === 'tracestate') return name;
  return name === 'requestId' ? 'request-id' : `context-${name}`;
}
