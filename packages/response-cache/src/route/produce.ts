import { shared } from '../answer/answer.ts';
import { checkTags } from '../validate/check-values.ts';
import { kindThatIsNotJson } from '../answer/to-json.ts';
import { unshared } from '../answer/unshared.ts';
import { etagOf } from './cache-headers.ts';
import type { CachedRoute } from './cached-route.ts';
import { ignoreRejection } from '../validate/unawaited.ts';
import { decisionOn } from './decisions.ts';
import type { Exchange } from './exchange.ts';
import { unknownAhead, unknownPeer, whyUnkeyed } from './key-by-reads.ts';
import { takeHead, varyNames } from './kept-head.ts';
import { namesCaller } from './named-caller.ts';
import { AheadReads } from './ahead.ts';
import { Observation } from './observe.ts';
import type { Reads } from './reads.ts';
import type { Headers } from './response-port.ts';

/* RFC 9111, section 5.2.2: what a cache that many share may not keep, or not send without asking again. */
const notToBeShared = /(?:^|[\s,])(?:no-store|no-cache|private)(?:[\s,=;]|$)/i;
/* Section 4.2.1: what is not a number of seconds is a lifetime that has ended. */
const noLifetime = /(?:^|[\s,;])s-maxage\s*=\s*(?!"?\s*0*[1-9]\d*(?:\+\d+)?\s*"?\s*(?:[,;]|$))/i;
const noAge = /(?:^|[\s,;])max-age\s*=\s*(?!"?\s*0*[1-9]\d*(?:\+\d+)?\s*"?\s*(?:[,;]|$))/i;
const ownLifetime = /(?:^|[\s,;])s-maxage\s*=/i;
/* Without a body, or with a part of one. */
const bodiless = new Set([204, 205, 206]);

/** Runs what stands behind the cache, and says what of its result others may have. */
export async function produce(run: () => unknown, exchange: Exchange): Promise<unknown> {
  const { route, request, responses, response } = exchange;
  const statusBefore = responses.statusOf(response);
  const before = responses.headersOf(response);
  const ahead = route.isObserved
    ? route.ahead.take(request, route.identify === undefined && route.key === undefined)
    : undefined;
  // Its handler reads the same properties of each request, as far as it does so at all.
  const isThorough = ahead !== undefined || route.ahead.isUnseen || route.readsProperties;
  const observation = route.isObserved
    ? new Observation(request, isThorough, isThorough || route.readsPeer)
    : undefined;
  if (observation !== undefined && ahead instanceof AheadReads) ahead.passTo(observation.reads);
  let reads: Reads | undefined;
  let value: unknown;
  try {
    value = await run();
  } finally {
    reads = observation?.end();
  }
  // Also by a response that is not kept for another reason.
  const unkeyed = reads && whyUnkeyed(route, request, { reads, ahead });
  const status = responses.statusOf(response);
  if (responses.isTaken(response) || responses.setsCookie(response)) return unshared(value);
  if (status < 200 || status >= 300 || bodiless.has(status)) return unshared(value);
  const after = responses.headersOf(response);
  // Found out behind the cache, by a middleware of Express or an interceptor.
  if (route.identify === undefined && namesCaller(request)) {
    route.warnOnce('its request names a caller, and the route has no identify');
    return unshared(value);
  }
  if (isNotToBeKept(after)) return unshared(value);
  if (!isKeyedByVary(route, before, after)) return unshared(value);

  if (unkeyed !== undefined) {
    if (unkeyed !== unknownAhead && unkeyed !== unknownPeer) route.warnOnce(unkeyed);
    return unshared(value);
  }

  const json = await toText(value, exchange);
  if (json === undefined) return unshared(value);
  if (route.headers.has('etag') && responses.getHeader(response, 'etag') === undefined)
    responses.setHeader(response, 'etag', etagOf(json));
  const spell = responses.spellingsOf?.(response);
  const head = takeHead(
    { status: statusBefore, headers: before },
    { status, headers: responses.headersOf(response) },
    spell,
  );
  const decided = decisionOn(request);
  const ttl =
    decided?.ttl ??
    (typeof route.ttl === 'function' ? ignoreRejection(route.ttl(request, value)) : undefined);
  const tags =
    typeof route.tags === 'function' ? ignoreRejection(route.tags(request, value)) : route.tags;
  checkTags(route.name, tags);
  return shared(value, { json, head, ttl, tags: [...(tags ?? []), ...(decided?.tags ?? [])] });
}

/** Whether a response itself says that no shared cache may send it to others as it is. */
function isNotToBeKept(headers: Headers): boolean {
  // RFC 9213: one for caches of this kind counts instead of that for all.
  const control = headers['cdn-cache-control'] ?? headers['surrogate-control'];
  for (const each of [control, headers['cache-control']]) {
    if (each === undefined) continue;
    const text = String(each);
    if (notToBeShared.test(text) || noLifetime.test(text)) return true;
    if (noAge.test(text) && !ownLifetime.test(text)) return true;
  }
  const { expires } = headers;
  if (expires === undefined || headers['cache-control'] !== undefined) return false;
  // RFC 9111, section 5.3: what is not a date is one in the past.
  const text = String(expires);
  return !(httpDate.test(text) && Date.parse(text) > Date.now());
}

/* RFC 9110, section 5.6.7: Date.parse takes many more. */
const time = '\\d{2}:\\d{2}:\\d{2}';
const httpDate = new RegExp(
  [
    `[a-z]{3}, \\d{2} [a-z]{3} \\d{4} ${time} GMT`,
    `[a-z]{6,9}, \\d{2}-[a-z]{3}-\\d{2} ${time} GMT`,
    `[a-z]{3} [a-z]{3} [ \\d]\\d ${time} \\d{4}`,
  ]
    .map((form) => `^${form}$`)
    .join('|'),
  'i',
);

/* What CORS and compression vary by: they do their part on every request, so that it is not in what is kept. */
const ofMiddleware = new Set([
  'origin',
  'accept-encoding',
  'access-control-request-headers',
  'access-control-request-method',
  'access-control-request-private-network',
]);

/*
 * What a response names is part of the key from the next request on: this one's was made without. Also what it named before
 * the handler ran: @Header() and the middleware that chooses a language say what the handler depends on.
 */
function isKeyedByVary(route: CachedRoute, before: Headers, after: Headers): boolean {
  if (after.vary === undefined) return true;
  const passing = varyNames(before.vary).filter((name) => ofMiddleware.has(name));
  const known = new Set([...passing, ...route.vary]);
  const learned = varyNames(after.vary).filter((name) => !known.has(name));
  if (learned.includes('*')) return false;
  if (learned.length === 0) return true;
  route.vary.push(...learned);
  route.onVaryGrown?.();
  return false;
}

/** Undefined where the framework has to be given the value itself; the log says so once for each route. */
async function toText(
  value: unknown,
  { route, request, responses, response }: Exchange,
): Promise<string | undefined> {
  const kind = kindThatIsNotJson(value);
  if (kind !== undefined) return route.warnOnce(`its result is ${kind}`);
  const shaped = responses.shape?.(request, response, value) ?? value;
  const payload = shaped instanceof Promise ? await shaped : shaped;
  const shapedKind = payload === value ? undefined : kindThatIsNotJson(payload);
  if (shapedKind !== undefined)
    return route.warnOnce(`a preSerialization hook makes ${shapedKind}`);
  const refusal = responses.refuses?.(response, payload);
  if (refusal !== undefined) return route.warnOnce(refusal);
  try {
    const json: unknown = responses.serialize(response, payload);
    if (typeof json !== 'string') return route.warnOnce('its result serialises to nothing');
    // NaN, or what toJSON() makes of an object: not what the framework does with null.
    if (json === 'null' && payload !== null) return route.warnOnce('its result serialises to null');
    responses.typeOther?.(response, payload);
    return json;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return route.warnOnce(`its result does not serialise: ${reason}`);
  }
}
