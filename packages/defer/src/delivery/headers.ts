import type { Delivery } from '../sink.ts';

/** What a message carries beside its body, under the names every sink uses; consumers find their trace by it. */
export function headersOf(delivery: Delivery): Record<string, string> {
  const headers: Record<string, string> = {
    'defer-id': delivery.id,
    'defer-job': delivery.job,
    'defer-at': String(delivery.deferredAtMs),
  };
  if (delivery.key !== undefined) headers['defer-key'] = delivery.key;
  for (const [name, value] of Object.entries(delivery.context ?? {})) {
    if (value !== undefined) headers[contextName(name)] = value;
  }
  return headers;
}

/** W3C names stay as they are; what is the app's own cannot take the place of ours. */
function contextName(name: string): string {
  if (name === 'traceparent' || name === 'tracestate') return name;
  return name === 'requestId' ? 'request-id' : `context-${name}`;
}
