import type { Kept } from '../answer/answer-options.ts';
import type { Body } from './response-port.ts';
import type { Exchange } from './cached-route.ts';
import { giveHead } from './kept-head.ts';
import { giveVariant } from './variant.ts';
import { createHash } from 'node:crypto';
import type { Answer } from '../answer/answer.ts';

/**
 * Applies everything of the answer but its text to the response. Returns the text to send, or the bytes of a compressed
 * variant; undefined if the client already has it, and the response is a 304.
 *
 * @param isOwn true if the handler ran for this very response, and has set its headers itself
 */
export function dress(answer: Kept, isOwn: boolean, exchange: Exchange): Body | undefined {
  if (typeof answer === 'string') return answer;
  const isMadeHere = isOwn && answer.source === 'made';
  if (answer.head !== '' && !isMadeHere)
    giveHead(answer.head, exchange.responses, exchange.response);
  const { compression, headers } = exchange.route;
  const bytes = compression && giveVariant(answer, exchange, compression);
  const hasIt = headers.size > 0 && setCacheHeaders(answer, exchange);
  return hasIt ? undefined : (bytes ?? answer.json);
}

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
