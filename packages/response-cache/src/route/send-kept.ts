import type { Kept } from '../answer/answer-options.ts';
import { setCacheHeaders } from './cache-headers.ts';
import type { Exchange } from './exchange.ts';
import { giveHead } from './kept-head.ts';
import type { Body } from './response-port.ts';
import { giveVariant } from './variant.ts';

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
