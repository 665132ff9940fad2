import { createHash } from 'node:crypto';
import type { Answer } from '../answer/answer.ts';
import type { Exchange } from './exchange.ts';

/** Sets the configured headers about the cache; returns true if the client already has the response, and gets a 304. */
export function setCacheHeaders(
  answer: Answer,
  { route: { headers, cache }, request, responses, response }: Exchange,
): boolean {
  if (headers.has('x-cache'))
    responses.setHeader(response, 'x-cache', wordOf(answer.source, cache.isStoreDown));
  if (headers.has('age') && answer.source !== 'made') {
    const ageMs = Math.max(0, Date.now() - answer.madeAt);
    responses.setHeader(response, 'age', String(Math.floor(ageMs / 1_000)));
  }
  if (!headers.has('etag') || responses.statusOf(response) !== 200) return false;
  const wanted = request.headers['if-none-match'];
  if (wanted === undefined || !isOneOf(wanted, responses.getHeader(response, 'etag'))) return false;
  responses.setNotModified(response);
  return true;
}

/** Returns a strong ETag, which stands for the same text, byte for byte. */
export function etagOf(json: string): string {
  return `"${createHash('sha1').update(json).digest('base64url')}"`;
}

function wordOf(source: Answer['source'], isStoreDown: boolean): string {
  if (source === 'fresh') return 'HIT';
  if (source === 'stale') return 'STALE';
  return isStoreDown ? 'BYPASS' : 'MISS';
}

/* Uses the weak comparison, as in RFC 9110, section 13.1.2. */
function isOneOf(list: string, etag: unknown): boolean {
  if (typeof etag !== 'string') return false;
  if (list.trim() === '*') return true;
  const own = etag.replace(/^W\//, '');
  return list.split(',').some((each) => each.trim().replace(/^W\//, '') === own);
}
