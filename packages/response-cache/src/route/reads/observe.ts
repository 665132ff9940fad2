import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { hasValue, isCallerProperty } from '../key/identified-caller.ts';
import type { CacheRequest } from '../cached-route.ts';
import { isObserved, Reads, unobserved } from './reads.ts';
import { StandIns } from './stand-ins.ts';
import { CookiesTrap, HeadersTrap, RawHeadersTrap, SocketTrap } from './traps.ts';

type Target = Record<PropertyKey, unknown>;

/*
 * Own properties that Node, the engine, Express, Fastify, Nest, Passport, cookie parsers and loggers give each request. Any other
 * property, or function, may depend on the caller.
 */
const ofEachRequest: ReadonlySet<PropertyKey> = new Set(
  '_readableState _events _eventsCount _maxListeners _consuming _dumped _paused _closed _addHeaderLine _addHeaderLines _addHeaderLineDistinct _destroy _parsedUrl _parsedOriginalUrl _body _startAt _startTime _remoteAddress _passport _userProperty _sessionManager id params raw query log body res route next login logIn logout logOut isAuthenticated isUnauthenticated baseUrl originalUrl url method httpVersion httpVersionMajor httpVersionMinor complete aborted upgrade socket client connection statusCode statusMessage rawHeaders rawTrailers headers headersDistinct trailers trailersDistinct joinDuplicateHeaders cookies signedCookies secret hosts protocol host hostname stream domain readable startTime'.split(
    ' ',
  ),
);

/* Symbols of Node. Their descriptions do not tell them apart from others, so they are collected from a request. */
const symbolsOfNode: ReadonlySet<symbol> = new Set(
  [new IncomingMessage(new Socket())].flatMap((probe) => {
    void [probe.headers, probe.headersDistinct, probe.trailers, probe.trailersDistinct];
    return Object.getOwnPropertySymbols(probe);
  }),
);

/* Symbols of the engine of `@redline/http`, by their descriptions: this package does not import it. */
const symbolsOfEngine: ReadonlySet<string> = new Set(
  'connection headerBlock joinedLength held isNodes kAbortController'.split(' '),
);

const maxKnown = 1_000;

/* Properties of frameworks and of agents, which read them while the handler runs. */
const ofOthers =
  /^(?:fastify\.|redline\.|router\.|nodejs\.|_datadog|__NR|__sentry|opentelemetry|newrelic)/i;

/* Names recognised before: a request has some thirty, and an expression for each takes as long as the rest. */
const known = new Set<PropertyKey>(ofEachRequest);

function isKnown(name: PropertyKey): boolean {
  if (known.has(name)) return true;
  const text = typeof name === 'symbol' ? (name.description ?? '') : String(name);
  const isOfNode =
    typeof name === 'symbol'
      ? symbolsOfNode.has(name) || symbolsOfEngine.has(text)
      : isCallerProperty(text);
  if (!isOfNode && !ofOthers.test(text)) return false;
  // Names that a request may choose would grow without limit; these are few.
  if (known.size < maxKnown) known.add(name);
  return true;
}

/* For each object, its last list of names that were all known: usually, the next request has the same names in the same order. */
const lastKnown = new Map<string, readonly PropertyKey[]>();

function areAllKnown(names: readonly PropertyKey[], of: string): boolean {
  const last = lastKnown.get(of);
  if (last?.length === names.length) {
    let index = 0;
    while (index < names.length && names[index] === last[index]) index += 1;
    if (index === names.length) return true;
  }
  if (!names.every(isKnown)) return false;
  lastKnown.set(of, names);
  return true;
}

/* Their getters read the address to decide if a proxy is trusted; the values they return are part of the key. */
const ofOrigin = ['protocol', 'host', 'hostname'] as const;

/** Watches one request while its response is made; `end` restores it. */
export class Observation {
  readonly reads: Reads = new Reads();
  readonly #standIns: StandIns;
  readonly #isThorough: boolean;
  readonly #exemptsOrigin: boolean;

  /**
   * @param isThorough true to watch also the properties that only a list of all names finds: symbols, and those that are not
   * enumerable. That list takes half as long as the rest.
   * @param exemptsOrigin true to let getters of the protocol and the host read the address of the client, which takes as long as
   * all the rest. Without it, a read of the address does not show which code it came from.
   */
  constructor(request: CacheRequest, isThorough: boolean, exemptsOrigin: boolean) {
    this.#isThorough = isThorough;
    this.#exemptsOrigin = exemptsOrigin;
    const own = request as unknown as Target & { cookies?: unknown; signedCookies?: unknown };
    // On Fastify, Nest's middleware has Node's own request.
    const raw = (own['raw'] ?? own) as Target;
    const { reads } = this;
    const standIns = new StandIns(raw);
    this.#standIns = standIns;
    standIns.putHeaders((headers) => new Proxy(headers, new HeadersTrap(reads)));
    standIns.putRawHeaders(
      (list) => new Proxy([], new RawHeadersTrap(reads, raw, 'rawHeaders', list)),
    );
    standIns.putSocket((socket) => new Proxy({}, new SocketTrap(reads, raw, 'socket', socket)));
    // Node gives each request its socket under this name as well; the engine's getter returns the stand-in for `socket`.
    if (Object.hasOwn(raw, 'client')) standIns.put(raw, 'client', raw['socket'] as object);
    if (exemptsOrigin) for (const name of ofOrigin) this.#exemptGetter(own, name);
    if (own.cookies !== undefined) this.#watchCookies(own, 'cookies');
    if (own.signedCookies !== undefined) this.#watchCookies(own, 'signedCookies');
    this.#watchProperties(own, 'request');
    if (raw !== own) this.#watchProperties(raw, 'request.raw');
    const { locals } = (own['res'] ?? {}) as { locals?: object };
    if (locals !== undefined) this.#watchProperties(locals as Target, 'response.locals');
  }

  /** Stops watching. To be called once, when the response is made. */
  end(): Reads {
    this.#standIns.restore();
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
    const names = this.#isThorough ? Reflect.ownKeys(target) : Object.keys(target);
    if (areAllKnown(names, of)) return;
    for (const name of names) {
      if (isKnown(name)) continue;
      const { value, get } = Object.getOwnPropertyDescriptor(target, name)!;
      if (get === undefined && !hasValue(value)) continue;
      this.#standIns.define(target, name, () => {
        if (isObserved()) this.reads.properties.push(`${of}.${String(name)}`);
        return get === undefined ? (value as unknown) : Reflect.apply(get, target, []);
      });
    }
  }
}
