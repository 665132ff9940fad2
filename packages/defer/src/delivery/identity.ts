import type { Delivery } from '../sink.ts';

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
