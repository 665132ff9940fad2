import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { Answer } from '../answer/answer.ts';
import type { Drops } from '../store/json-store.ts';
import type { JsonCache } from '../cache/json-cache.ts';
import type { Cookies } from './policy.ts';
import type { CachedRoute, CacheRequest } from './cached-route.ts';
import { keyOf, rewrittenUrl } from './key/request-key.ts';
import { varyNames } from './kept-head.ts';
import { watchSent, type SentResponse } from './sent-response.ts';
import { encodingsToOffer } from './variant.ts';

/** The answers of an HTTP engine, as `@redline/http` puts them on its servers: recognised by their shape alone. */
export interface EngineAnswers {
  ticket(): number;
  offer(request: EngineRequest, answer: EngineAnswer, ticket: number): string;
  dropTags(tags: readonly string[]): void;
  /** Logging of hits; undefined if it was not configured. */
  readonly lines?: { readonly obstacle: string | undefined; readonly line: number } | undefined;
}

export interface EngineRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

export interface EngineAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string | Uint8Array;
  readonly freshMs: number;
  readonly staleMs?: number;
  readonly tags: readonly string[];
  readonly vary: readonly string[];
  /** If `vary` has accept-encoding: the codings to choose between, in place of the value of the header. */
  readonly encodings?: readonly string[];
  readonly identify?: 'public' | { readonly header: string } | { readonly cookie: string };
  readonly cookies: Cookies;
  readonly line?: number;
  /** The response that it repeats: hits have its route in telemetry. */
  readonly from?: ServerResponse;
}

/** Returns true if the framework itself sends 304 for `If-None-Match`, in place of a response with this status. */
export type Revalidates = (status: number) => boolean;

export function engineAnswersOf(server: object | undefined): EngineAnswers | undefined {
  return (server as Record<symbol, EngineAnswers | undefined> | undefined)?.[
    Symbol.for('redline.responseStore')
  ];
}

const headerName = /^[\w!#$%&'+.^`|~-]+$/;

const condition = 'if-none-match';
const acceptEncoding = 'accept-encoding';

/* The headers of the origin that `requestKey` reads. */
const originHeaders = [
  'host',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-forwarded-port',
  'x-forwarded-prefix',
  'forwarded',
];

/* Changes before a warning: a response that changes each time is never kept, but one that was renewed has changed as well. */
const changesToWarn = 16;

/** An answer of the store that is offered to the engine. */
export interface OfferedAnswer {
  readonly key: string;
  readonly answer: Answer;
  /** Taken before the store was read. */
  readonly ticket: number;
}

/** The part of a cache that the engine serves: it receives every drop of the store. */
export class EngineStore {
  readonly #answers: EngineAnswers;
  readonly #drops: Drops;
  /* Tag of every answer of this cache, for drops of all of them, but not of other caches on that server. */
  readonly #owner: string;

  constructor(answers: EngineAnswers, drops: Drops, cacheName: string) {
    this.#answers = answers;
    this.#drops = drops;
    this.#owner = keyOf('redline', cacheName);
    drops.watch((names) => {
      answers.dropTags(
        names === undefined ? [this.#owner] : names.map((name) => this.#tag('drop', name)),
      );
    });
  }

  /** Returns a ticket, to be taken before the store is read; undefined while its changes may go unnoticed. */
  ticket(): number | undefined {
    return this.#drops.isCoherent ? this.#answers.ticket() : undefined;
  }

  /** Offers the response that was sent, and returns the outcome from the engine; undefined if it is not offered. */
  offer(
    { key, answer, ticket }: OfferedAnswer,
    {
      route,
      revalidates,
      encodings,
    }: {
      route: CachedRoute;
      revalidates: Revalidates;
      encodings: readonly string[] | undefined;
    },
    request: EngineRequest,
    sent: SentResponse & { readonly from: ServerResponse },
  ): string | undefined {
    const { lines } = this.#answers;
    const freshMs = Math.min(answer.freshMs, answer.madeAt + answer.freshMs - Date.now());
    if (freshMs <= 0 || sent.status === 304 || lines?.obstacle !== undefined) return undefined;
    const { identify, cookies, stale, headers } = route;
    // Sent by the engine, an old response would claim to be fresh.
    const isSentStale = stale !== undefined && !headers.has('x-cache');
    const vary = variesOn(route, sent, revalidates);
    if (vary.has(condition) && request.headers[condition] !== undefined) return undefined;
    const names = this.#drops.namesOf(key, answer.tags).map((name) => this.#tag('drop', name));
    const offered: EngineAnswer = {
      ...sent,
      freshMs,
      tags: [this.#owner, this.#tagOf(route), ...names],
      vary: [...vary],
      cookies,
      ...(encodings && { encodings }),
      line: lines?.line ?? 0,
      ...(isSentStale ? { staleMs: stale } : {}),
      ...(identify === undefined || typeof identify === 'function' ? {} : { identify }),
    };
    return this.#answers.offer(request, offered, ticket);
  }

  /** Drops the responses of a route. */
  drop(route: CachedRoute): void {
    this.#answers.dropTags([this.#tagOf(route)]);
  }

  #tagOf({ name }: CachedRoute): string {
    return this.#tag('route', name);
  }

  #tag(kind: 'drop' | 'route', name: string): string {
    return keyOf(this.#owner, kind, name);
  }
}

function variesOn(
  route: CachedRoute,
  { status, headers }: SentResponse,
  revalidates: Revalidates,
): Set<string> {
  const names = new Set(route.vary);
  if (route.hosts !== 'any') for (const name of originHeaders) names.add(name);
  let hasEtag = false;
  for (const [name, value] of headers) {
    const known = name.toLowerCase();
    if (known === 'etag') hasEtag = true;
    // An invalid name stays unknown to the engine, which then does not keep the response.
    if (known === 'vary')
      for (const each of varyNames(value)) if (headerName.test(each)) names.add(each);
  }
  // The engine sends 304 for each ETag; if the hook does not, or only a plugin does, JavaScript has to decide.
  const isRevalidated = revalidates(status) || (status === 200 && route.headers.has('etag'));
  if (hasEtag !== isRevalidated) names.add(condition);
  return names;
}

const stores = new WeakMap<EngineAnswers, WeakMap<JsonCache, EngineStore>>();

/** Returns the part of a cache in the engine; undefined if the store of the cache does not report its changes. */
export function engineStoreOf(answers: EngineAnswers, cache: JsonCache): EngineStore | undefined {
  const known = stores.get(answers)?.get(cache);
  if (known !== undefined) return known;
  const { drops } = cache;
  if (drops === undefined) return undefined;
  const store = new EngineStore(answers, drops, cache.name);
  const ofServer = stores.get(answers) ?? new WeakMap<JsonCache, EngineStore>();
  stores.set(answers, ofServer.set(cache, store));
  return store;
}

/** Offers the responses of one route to the engine. */
export class EngineOffers {
  readonly #store: EngineStore;
  readonly #route: CachedRoute;
  readonly #server: { readonly listening?: boolean };
  readonly #revalidates: Revalidates;
  readonly #warn: (line: string) => void;
  readonly #warned = new Set<string>();
  #changes = 0;

  constructor(
    store: EngineStore,
    route: CachedRoute,
    {
      server,
      revalidates,
      warn,
    }: { server: object; revalidates: Revalidates; warn: (line: string) => void },
  ) {
    this.#store = store;
    this.#route = route;
    this.#server = server;
    this.#revalidates = revalidates;
    this.#warn = warn;
    // Responses kept so far have fewer names in their keys, and would be sent to requests that differ in the new one.
    route.onVaryGrown = () => store.drop(route);
  }

  ticket(): number | undefined {
    return this.#store.ticket();
  }

  /** Offers the response that `raw` is sent as, which was made from an answer of the store. */
  watch(
    request: CacheRequest & { readonly raw?: IncomingMessage },
    raw: ServerResponse,
    offered: OfferedAnswer,
  ): void {
    if (request.method !== 'GET' || offered.answer.source !== 'fresh') return;
    // The engine knows the URL as it was sent.
    if (rewrittenUrl(request) !== undefined) return;
    watchSent(raw, (sent) => {
      if (sent === undefined) return this.#refused('its responses are streams');
      const { method, originalUrl: url, headers } = request;
      const of: EngineRequest = { method, url, headers };
      const encodings = this.#encodingsOf(request, offered, sent);
      if (encodings === 'not yet') return;
      const by = { route: this.#route, revalidates: this.#revalidates, encodings };
      const outcome = this.#store.offer(offered, by, of, { ...sent, from: raw });
      if (outcome !== undefined) this.#note(outcome);
    });
  }

  #encodingsOf(
    request: CacheRequest,
    offered: OfferedAnswer,
    { headers }: SentResponse,
  ): readonly string[] | 'not yet' | undefined {
    const { compression, cache } = this.#route;
    if (compression === undefined) return undefined;
    const isVaried = headers.some(
      ([name, value]) => name.toLowerCase() === 'vary' && varyNames(value).includes(acceptEncoding),
    );
    if (!isVaried || this.#route.vary.includes(acceptEncoding)) return undefined;
    const sent = headers.find(([name]) => name.toLowerCase() === 'content-encoding')?.[1];
    return encodingsToOffer(offered, request, cache, compression, sent);
  }

  #note(outcome: string): void {
    switch (outcome) {
      case 'kept':
        this.#changes = -Infinity;
        this.#route.cache.countEngine();
        return;
      case 'changes':
        if ((this.#changes += 1) === changesToWarn)
          this.#refused('they differ each time, as with a nonce, a request id or a rate limit');
        return;
      case 'not-served':
        // While the server closes, it serves no other requests either.
        if (this.#server.listening === true) this.#refused('it does not serve this server');
        return;
      case 'set-cookie':
      case 'cache-control':
      case 'headers':
      case 'status':
      case 'large':
      case 'vary':
        return this.#refused(`its answer to them is "${outcome}"`);
      default:
    }
  }

  #refused(reason: string): void {
    if (this.#warned.has(reason)) return;
    this.#warned.add(reason);
    this.#warn(
      `The engine does not keep the responses of ${this.#route.name}, the hook answers them: ${reason}.`,
    );
  }
}
