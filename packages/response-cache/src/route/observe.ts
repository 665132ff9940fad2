import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { carriedBy, namesCallerAs } from './named-caller.ts';
import type { CacheRequest } from './cached-route.ts';
import { isObserved, Reads, unobserved } from './reads.ts';
import { StandIns } from './stand-ins.ts';
import { CookiesTrap, HeadersTrap, RawHeadersTrap, SocketTrap } from './traps.ts';

type Target = Record<PropertyKey, unknown>;

/* Own properties that Node, the engine, Express, Fastify, Nest, cookie parsers and loggers give each request. */
const ofEachRequest: ReadonlySet<PropertyKey> = new Set(
  '_readableState _events _eventsCount _maxListeners _consuming _dumped _paused _closed _addHeaderLine _addHeaderLines _addHeaderLineDistinct _destroy _parsedUrl _parsedOriginalUrl _body _startAt _startTime _remoteAddress _passport _userProperty _sessionManager id params raw query log body res route next baseUrl originalUrl url method httpVersion httpVersionMajor httpVersionMinor complete aborted upgrade socket client connection statusCode statusMessage rawHeaders rawTrailers headers headersDistinct trailers trailersDistinct joinDuplicateHeaders cookies signedCookies secret hosts protocol host hostname stream domain readable startTime'.split(
    ' ',
  ),
);

/* Symbols of Node and of frameworks. Those of Node have no description of their own kind, so they are looked for. */
const symbolsOfNode: ReadonlySet<symbol> = new Set(
  [new IncomingMessage(new Socket())].flatMap((probe) => {
    void [probe.headers, probe.headersDistinct, probe.trailers, probe.trailersDistinct];
    return Object.getOwnPropertySymbols(probe);
  }),
);

/* Of the engine of `@redline/http`, by their descriptions: this package does not import it. */
const symbolsOfEngine: ReadonlySet<string> = new Set(
  'connection headerBlock joinedLength held isNodes kAbortController'.split(' '),
);

const maxKnown = 1_000;

/* Of frameworks and of agents, which read them while the handler runs. */
const ofOthers =
  /^(?:fastify\.|redline\.|router\.|nodejs\.|_datadog|__NR|__sentry|opentelemetry|newrelic)/i;

/* Of all that were looked at: a request has some thirty, and an expression for each takes as long as the rest. */
const known = new Set<PropertyKey>(ofEachRequest);

function isKnown(name: PropertyKey): boolean {
  if (known.has(name)) return true;
  const text = typeof name === 'symbol' ? (name.description ?? '') : String(name);
  const isOfNode =
    typeof name === 'symbol'
      ? symbolsOfNode.has(name) || symbolsOfEngine.has(text)
      : namesCallerAs(text);
  if (!isOfNode && !ofOthers.test(text)) return false;
  // Names that a request may choose would grow without end; these are few.
  if (known.size < maxKnown) known.add(name);
  return true;
}

/* Their getters ask for the address to see whether a proxy is to be trusted; what they return is part of the key. */
const ofOrigin = ['protocol', 'host', 'hostname'] as const;

/** Watches one request while its response is made; `end` gives it back as it was. */
export class Observation {
  readonly reads: Reads = new Reads();
  readonly #standIns: StandIns;
  readonly #isThorough: boolean;
  readonly #exemptsOrigin: boolean;

  /**
   * @param isThorough whether properties are watched as well that are found by a list of all names alone: those of symbols, and those
   * that are not enumerable. That list takes as long as half of the rest.
   * @param exemptsOrigin whether getters of the protocol and the host may ask for the address of the client, which takes as long as
   * all the rest. Without it, that somebody has asked for the address does not say who.
   */
  constructor(request: CacheRequest, isThorough: boolean, exemptsOrigin: boolean) {
    this.#isThorough = isThorough;
    this.#exemptsOrigin = exemptsOrigin;
    const own = request as unknown as Target & { cookies?: unknown; signedCookies?: unknown };
    // Nest's middleware has Node's own request on Fastify.
    const raw = (own['raw'] ?? own) as Target;
    const { reads } = this;
    const standIns = new StandIns(raw);
    this.#standIns = standIns;
    standIns.putHeaders((headers) => new Proxy(headers, new HeadersTrap(reads)));
    standIns.putRawHeaders(
      (list) => new Proxy([], new RawHeadersTrap(reads, raw, 'rawHeaders', list)),
    );
    standIns.putSocket((socket) => new Proxy({}, new SocketTrap(reads, raw, 'socket', socket)));
    if (exemptsOrigin) for (const name of ofOrigin) this.#exemptGetter(own, name);
    if (own.cookies !== undefined) this.#watchCookies(own, 'cookies');
    if (own.signedCookies !== undefined) this.#watchCookies(own, 'signedCookies');
    this.#watchProperties(own, 'request');
    if (raw !== own) this.#watchProperties(raw, 'request.raw');
    const { locals } = (own['res'] ?? {}) as { locals?: object };
    if (locals !== undefined) this.#watchProperties(locals as Target, 'response.locals');
  }

  /** To be called once, when the response is made. */
  end(): Reads {
    this.#standIns.giveBack();
    this.reads.mayBeOfOrigin = this.reads.isPeerRead && !this.#exemptsOrigin;
    return this.reads;
  }

  #watchCookies(own: Target, name: 'cookies' | 'signedCookies'): void {
    const cookies = own[name];
    if (typeof cookies !== 'object' || cookies === null) return;
    this.#standIns.put(own, name, new Proxy(cookies, new CookiesTrap(this.reads)));
  }

  #exemptGetter(target: Target, name: string): void {
    if (!(name in target) || Object.hasOwn(target, name)) return;
    const prototype = Object.getPrototypeOf(target) as object;
    this.#standIns.define(target, name, () =>
      unobserved(() => Reflect.get(prototype, name, target)),
    );
  }

  #watchProperties(target: Target, of: string): void {
    for (const name of this.#isThorough ? Reflect.ownKeys(target) : Object.keys(target)) {
      if (isKnown(name)) continue;
      const { value, get } = Object.getOwnPropertyDescriptor(target, name)!;
      if (get === undefined && (typeof value === 'function' || !carriedBy(value))) continue;
      this.#standIns.define(target, name, () => {
        if (isObserved()) this.reads.properties.push(`${of}.${String(name)}`);
        return get === undefined ? (value as unknown) : Reflect.apply(get, target, []);
      });
    }
  }
}
