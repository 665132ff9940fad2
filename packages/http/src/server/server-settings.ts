import type { Server } from 'node:http';
import type { ServerSettings } from '../native/index.ts';
import { http } from '../node/node-http.ts';
import type { ResolvedProxies } from './proxy-options.ts';

const kValues: unique symbol = Symbol('settings');

/** Numbers cross as 32 bits: a larger one would come out as another, a part of 1 as 0, which is "off". */
const MOST = 0x7fffffff;

/** A server by its settings; Node's types leave most of them out. */
export interface ConfiguredServer extends Server {
  httpAllowHalfOpen: boolean;
  noDelay: boolean;
  keepAlive: boolean;
  keepAliveInitialDelay: number;
  keepAliveTimeoutBuffer: number;
  maxHeaderSize: number | undefined;
  readonly proxies: ResolvedProxies | undefined;
  /** Tells the engine of changed properties. */
  reconfigure(): void;
}

/** Properties of a server that its user may write at any time, and that the engine follows. */
const LIVE = [
  'headersTimeout',
  'requestTimeout',
  'keepAliveTimeout',
  'keepAliveTimeoutBuffer',
  'timeout',
  'maxConnections',
  'maxHeaderSize',
  'maxHeadersCount',
  'httpAllowHalfOpen',
] as const;

/**
 * Makes the live properties accessors of the prototype, so that the constructor of http.Server, which knows nothing of
 * the engine, writes through them too.
 */
export function defineSettings(prototype: ConfiguredServer): void {
  for (const name of LIVE) {
    Object.defineProperty(prototype, name, {
      configurable: true,
      enumerable: true,
      get(this: Settable) {
        return this[kValues]?.[name];
      },
      set(this: Settable, value: unknown) {
        (this[kValues] ??= {})[name] = value;
        this.reconfigure();
      },
    });
  }
}

/** Settings for the engine. Times in ms; 0 is off. */
export function settingsOf(server: ConfiguredServer, announceConnections: boolean): ServerSettings {
  const keepAliveTimeout = duration(server.keepAliveTimeout);
  return {
    headersTimeout: duration(server.headersTimeout),
    requestTimeout: duration(server.requestTimeout),
    proxyTimeout: server.proxies?.timeoutMs ?? 0,
    keepAliveTimeout:
      keepAliveTimeout === 0 ? 0 : keepAliveTimeout + duration(server.keepAliveTimeoutBuffer, 1000),
    keepAliveShown: keepAliveTimeout,
    socketTimeout: duration(server.timeout),
    maxHeaderSize: Math.min(server.maxHeaderSize || http.maxHeaderSize, MOST),
    maxHeaders: headerCount(server.maxHeadersCount),
    maxConnections: limit(server.maxConnections),
    noDelay: server.noDelay,
    keepAlive: server.keepAlive,
    keepAliveInitialDelay: server.keepAliveInitialDelay,
    allowHalfOpen: server.httpAllowHalfOpen,
    announceConnections,
  };
}

/** Has a server that Node's constructor has made write them through these accessors, too. */
export function adoptSettings(server: Server): () => void {
  const own = server as never as Record<string, unknown>;
  const values = LIVE.filter((name) => Object.hasOwn(own, name)).map(
    (name) => [name, own[name]] as const,
  );
  for (const [name] of values) delete own[name];
  return () => {
    for (const [name, value] of values) own[name] = value;
  };
}

type Settable = ConfiguredServer & { [kValues]?: Record<string, unknown> };

// As Node reads these properties: values other than numbers count as their fallback.
function duration(value: number | undefined, fallback = 0): number {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) return fallback;
  return Math.min(Math.ceil(value), MOST);
}

/** By default Node allows a thousand. */
function headerCount(value: number | null): number {
  if (typeof value !== 'number') return 1000;
  return value > 0 ? Math.min(Math.ceil(value), MOST) : 0;
}

function limit(value: number | null | undefined): number {
  if (value === undefined || value === null) return 0;
  return value > 0 ? Math.min(Math.ceil(value), MOST) : -1;
}
