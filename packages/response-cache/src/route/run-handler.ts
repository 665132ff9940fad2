import { shared } from '../answer/answer.ts';
import { checkTags, ignoreRejection } from '../validate.ts';
import { kindThatIsNotJson } from '../answer/to-json.ts';
import { unshared } from '../answer/answer-options.ts';
import { etagOf } from './send-kept.ts';
import type { CachedRoute, Exchange } from './cached-route.ts';
import { decisionOn } from './check-policy.ts';
import type { Headers } from './response-port.ts';
import { unknownAhead, unknownPeer, whyUnkeyed } from './key/key-by-reads.ts';
import { takeHead, varyNames } from './kept-head.ts';
import { hasIdentifiedCaller } from './key/identified-caller.ts';
import { AheadReads } from './reads/ahead.ts';
import { Observation } from './reads/observe.ts';
import type { Reads } from './reads/reads.ts';

/* RFC 9111, section 5.2.2: responses that a shared cache may not keep, or not send without revalidation. */
const notToBeShared = /(?:^|[\s,])(?:no-store|no-cache|private)(?:[\s,=;]|$)/i;
/* Section 4.2.1: a value that is not a number of seconds is a lifetime that has ended. */
const noLifetime = /(?:^|[\s,;])s-maxage\s*=\s*(?!"?\s*0*[1-9]\d*(?:\+\d+)?\s*"?\s*(?:[,;]|$))/i;
const noAge = /(?:^|[\s,;])max-age\s*=\s*(?!"?\s*0*[1-9]\d*(?:\+\d+)?\s*"?\s*(?:[,;]|$))/i;
const ownLifetime = /(?:^|[\s,;])s-maxage\s*=/i;
const anyLifetime = /(?:^|[\s,;])(?:s-maxage|max-age)\s*=/i;
/* For caches in front of an origin (RFC 9213, and its predecessor), and for all (RFC 9111). The strictest one counts. */
const controls = ['cdn-cache-control', 'surrogate-control', 'cache-control'] as const;
/* Statuses without a body, or with a part of one. */
const bodiless = new Set([204, 205, 206]);

/** Runs the code after the cache, and decides which part of its result other callers may get. */
export async function produce(run: () => unknown, exchange: Exchange): Promise<unknown> {
  const { route, request, responses, response } = exchange;
  const statusBefore = responses.statusOf(response);
  const before = responses.headersOf(response);
  const ahead = route.isObserved
    ? route.ahead.take(request, route.identify === undefined && route.key === undefined)
    : undefined;
  // A handler that reads properties reads the same ones of each request.
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
  // Learns from the reads even if the response is not kept for another reason.
  const unkeyed = reads && whyUnkeyed(route, request, { reads, ahead });
  const status = responses.statusOf(response);
  if (responses.isTaken(response) || responses.setsCookie(response)) return unshared(value);
  if (status < 200 || status >= 300 || bodiless.has(status)) return unshared(value);
  const after = responses.headersOf(response);
  // Identified after the cache, by a middleware of Express or an interceptor.
  if (route.identify === undefined && hasIdentifiedCaller(request)) {
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

/** Returns true if a response itself forbids shared caches to send it unchanged to others. */
function isNotToBeKept(headers: Headers): boolean {
  let hasLifetime = false;
  for (const name of controls) {
    const each = headers[name];
    if (each === undefined) continue;
    const text = String(each);
    if (notToBeShared.test(text) || noLifetime.test(text)) return true;
    if (noAge.test(text) && !ownLifetime.test(text)) return true;
    hasLifetime ||= anyLifetime.test(text);
  }
  const { expires } = headers;
  // RFC 9111, section 5.3: max-age overrides Expires, and an invalid date is in the past.
  if (expires === undefined || hasLifetime) return false;
  const text = String(expires);
  if (!httpDate.test(text)) return true;
  // Section 4.2.1: the lifetime is Expires minus Date.
  const made = Date.parse(String(headers['date'] ?? ''));
  return Date.parse(text) <= (Number.isNaN(made) ? Date.now() : Math.max(made, Date.now()));
}

/* RFC 9110, section 5.6.7: Date.parse accepts many more forms. */
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

/* CORS and compression vary by these. They run on every request, so the kept response does not depend on them. */
const ofMiddleware = new Set([
  'origin',
  'accept-encoding',
  'access-control-request-headers',
  'access-control-request-method',
  'access-control-request-private-network',
]);

/*
 * Headers that a response names are part of the key from the next request on: its own key was made without them. So are those
 * named before the handler ran: @Header() and the middleware that chooses a language name the dependencies of the handler.
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

/** Returns undefined if the framework needs the value itself, which is logged once for each route. */
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
    // NaN, or the result of a toJSON(): the framework does not treat it like null.
    if (json === 'null' && payload !== null) return route.warnOnce('its result serialises to null');
    responses.typeOther?.(response, payload);
    return json;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return route.warnOnce(`its result does not serialise: ${reason}`);
  }
}
