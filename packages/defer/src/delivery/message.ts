import type { Delivery, DeferContext } from '../sink.ts';
import { messageOf } from '../thrown.ts';

/**
 * Returns the identity of a job: its kind and the caller's key, or the id that every attempt shares. ASCII
 * without colons, quotes or spaces, and never the same for two different jobs.
 */
export function identityOf({ job, key, id }: Pick<Delivery, 'job' | 'key' | 'id'>): string {
  // An id has no tilde.
  return key === undefined ? id : `${word(job)}~${word(key)}`;
}

/** Returns the same text, except for lone surrogates, which UTF-8 cannot carry: each replacement shows which one it was. */
export function wellFormed(text: string): string {
  if (text.isWellFormed()) return text;
  return text.replaceAll(halfPair, (half) => `\uFFFD${half.charCodeAt(0).toString(16)}`);
}

function word(text: string): string {
  if (/^[\w.-]+$/.test(text)) return text;
  if (text.isWellFormed()) return encode(text);
  return text
    .split(halfPair)
    .map((part) => (part.isWellFormed() ? encode(part) : `%u${part.charCodeAt(0).toString(16)}`))
    .join('');
}

/* In parentheses, so that `split` keeps the separators. */
const halfPair = /([\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF])/g;

function encode(text: string): string {
  return encodeURIComponent(text).replaceAll('~', '%7E');
}

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

/** The job failed, not the sink: for example, the app's own function threw for it. */
export class JobFault extends Error {}

/** Returns the option's value, or the result of the app's function for the job. @throws {JobFault} if that throws */
export function choose(
  option: string,
  given: string | ((delivery: Delivery) => string),
  delivery: Delivery,
): string {
  if (typeof given === 'string') return given;
  try {
    return given(delivery);
  } catch (cause) {
    throw new JobFault(`The option ${option} threw for "${delivery.job}": ${messageOf(cause)}`, {
      cause,
    });
  }
}
