import type { Answer } from '../answer/answer.ts';
import type { JsonCache } from '../cache/json-cache.ts';
import type { Encoding } from '../encoding/accept-encoding.ts';
import type { Compression } from '../encoding/compress-options.ts';
import { VariantCache } from '../encoding/variants.ts';
import type { CacheRequest, Exchange } from './cached-route.ts';
import type { ResponsePort } from './response-port.ts';
import { addVary } from './kept-head.ts';

const compressibleType =
  /^(?:text\/(?!event-stream)|application\/(?:json|javascript|xml|graphql|x-ndjson)\b|[^;]*\+(?:json|xml)\b)/i;
const noTransform = /(?:^|[\s,])no-transform(?:[\s,;]|$)/i;
/* Headers that describe the bytes that are sent, in the head of a kept response. */
const ofTheBytes =
  /"(?:content-md5|digest|content-digest|repr-digest|accept-ranges|content-range)":/i;

const variantCaches = new WeakMap<JsonCache, VariantCache>();

function variantsOf(cache: JsonCache): VariantCache {
  let variants = variantCaches.get(cache);
  if (variants === undefined) variantCaches.set(cache, (variants = new VariantCache()));
  return variants;
}

/**
 * Returns the bytes to send in place of the text of `answer`, and sets their headers on the response. Undefined if the text
 * itself is sent: to clients that accept no coding, and until a variant is made.
 */
export function giveVariant(
  answer: Answer,
  exchange: Exchange,
  compression: Compression,
): Buffer | undefined {
  const { route, request, responses, response, key } = exchange;
  if (!isCompressible(answer, compression, responses, response)) return undefined;
  // In lower case: otherwise @fastify/compress would add it again.
  addVary(responses, response, 'accept-encoding');
  const encoding = wantedEncoding(request, compression);
  if (encoding === undefined || answer.seal === '') return undefined;
  const bytes = variantsOf(route.cache).get(key, answer, encoding, compression);
  if (bytes === undefined) return undefined;
  responses.setHeader(response, 'Content-Encoding', encoding);
  const etag = responses.getHeader(response, 'etag');
  // RFC 9110, section 8.8.3: variants share only weak ETags.
  if (typeof etag === 'string' && etag.startsWith('"'))
    responses.setHeader(response, 'ETag', `${etag.slice(0, -1)}-${encoding}"`);
  return bytes;
}

/**
 * Returns the codings between which the engine chooses for a response that was sent with the coding `sent`; undefined if
 * something else chooses, possibly by other rules.
 */
export function encodingsToOffer(
  { answer, key }: { readonly answer: Answer; readonly key: string },
  request: CacheRequest,
  cache: JsonCache,
  compression: Compression,
  sent: string | undefined,
): readonly Encoding[] | 'not yet' | undefined {
  const { encodings } = compression;
  if (request.headers.range !== undefined) return 'not yet';
  const wanted = wantedEncoding(request, compression);
  if (sent === wanted) return encodings;
  if (sent !== undefined || wanted === undefined) return undefined;
  const variant = variantsOf(cache).state(key, answer, wanted);
  if (variant === 'none') return encodings;
  return variant === undefined ? undefined : 'not yet';
}

/** Returns the coding for `request`. A request for a range gets the text itself. */
function wantedEncoding(
  { headers }: CacheRequest,
  { accepted }: Compression,
): Encoding | undefined {
  if (headers.range !== undefined) return undefined;
  const accept = headers['accept-encoding'];
  return accepted.choose(Array.isArray(accept) ? accept.join() : accept);
}

function isCompressible(
  { json, head }: Answer,
  { minBytes }: Compression,
  responses: ResponsePort<unknown>,
  response: unknown,
): boolean {
  // A character takes up to three bytes.
  if (json.length < minBytes && (json.length * 3 < minBytes || Buffer.byteLength(json) < minBytes))
    return false;
  const type = responses.getHeader(response, 'content-type');
  if (type !== undefined && !compressibleType.test(String(type))) return false;
  if (responses.getHeader(response, 'content-encoding') !== undefined) return false;
  const control = responses.getHeader(response, 'cache-control');
  if (control !== undefined && noTransform.test(String(control))) return false;
  return head === '' || !ofTheBytes.test(head);
}
