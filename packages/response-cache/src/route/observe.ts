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

/* Of frameworks and of agents, which read them while the handler runs. */
const ofOthers = /^(?:fastify\.|redline\.|nodejs\.|_datadog|__NR|__sentry|opentelemetry|newrelic)/i;

function isKnown(name: string | symbol): boolean {
  if (typeof name === 'symbol') {
    const { description = '' } = name;
    return (
      symbolsOfNode.has(name) || symbolsOfEngine.has(description) || ofOthers.test(description)
    );
  }
  return ofEachRequest.has(name) || namesCallerAs(name) || ofOthers.test(name);
}

/* Their getters ask for the address to see whether a proxy is to be trusted; what they return is part of the key. */
const ofOrigin = ['protocol', 'host', 'hostname'] as const;

/** Watches one request while its response is made; `end` gives it back as it was. */
export class Observation {
  readonly reads: Reads = new Reads();
  readonly #standIns = new StandIns();

  constructor(request: CacheRequest) {
    const own = request as unknown as Target;
    // Nest's middleware has Node's own request on Fastify.
    const raw = (own['raw'] ?? own) as Target;
    const { reads } = this;
    const headers = raw['headers'] as object;
    // A setter of Node and of the engine keeps them.
    this.#standIns.swap(raw, 'headers', new Proxy(headers, new HeadersTrap(reads)), headers);
    this.#standIns.swap(
      raw,
      'rawHeaders',
      new Proxy([], new RawHeadersTrap(reads, raw, 'rawHeaders')),
    );
    this.#standIns.swap(raw, 'socket', new Proxy({}, new SocketTrap(reads, raw, 'socket')));
    for (const name of ofOrigin) this.#exemptGetter(own, name);
    for (const name of ['cookies', 'signedCookies']) {
      const cookies = own[name];
      if (typeof cookies === 'object' && cookies !== null)
        this.#standIns.swap(own, name, new Proxy(cookies, new CookiesTrap(reads)));
    }
    this.#watchProperties(own, 'request');
    if (raw !== own) this.#watchProperties(raw, 'request.raw');
    const { locals } = (own['res'] ?? {}) as { locals?: object };
    if (locals !== undefined) this.#watchProperties(locals as Target, 'response.locals');
  }

  /** To be called once, when the response is made. */
  end(): Reads {
    this.#standIns.giveBack();
    return this.reads;
  }

  #exemptGetter(target: Target, name: string): void {
    if (!(name in target) || Object.hasOwn(target, name)) return;
    const prototype = Object.getPrototypeOf(target) as object;
    this.#standIns.define(target, name, () =>
      unobserved(() => Reflect.get(prototype, name, target)),
    );
  }

  #watchProperties(target: Target, of: string): void {
    for (const name of Reflect.ownKeys(target)) {
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
