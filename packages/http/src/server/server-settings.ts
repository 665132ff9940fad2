import type { Server } from 'node:http';
import type { ServerSettings } from '../native/index.ts';
import { http } from '../node/node-http.ts';
import type { ResolvedProxies } from './proxy-options.ts';

const kValues: unique symbol = Symbol('settings');

/** Numbers are passed as 32 bits: a larger one would wrap, and a fraction of 1 become 0, which is "off". */
const MAX_INT32 = 0x7fffffff;

/** A server with its settings; Node's types leave most of them out. */
export interface ConfiguredServer extends Server {
  httpAllowHalfOpen: boolean;
  noDelay: boolean;
  keepAlive: boolean;
  keepAliveInitialDelay: number;
  keepAliveTimeoutBuffer: number;
  maxHeaderSize: number | undefined;
  readonly proxies: ResolvedProxies | undefined;
  /** Passes changed properties to the engine. */
  reconfigure(): void;
}

/** Properties that user code may write at any time, and that the engine follows. */
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
 * Defines the live properties as accessors of the prototype, so that writes of http.Server's constructor, which does not
 * know the engine, go through them too.
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
    maxHeaderSize: Math.min(server.maxHeaderSize || http.maxHeaderSize, MAX_INT32),
    maxHeaders: headerCount(server.maxHeadersCount),
    maxConnections: limit(server.maxConnections),
    noDelay: server.noDelay,
    keepAlive: server.keepAlive,
    keepAliveInitialDelay: server.keepAliveInitialDelay,
    allowHalfOpen: server.httpAllowHalfOpen,
    announceConnections,
  };
}

/** Moves the own properties of a server made by Node's constructor to these accessors. */
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

// Follows Node's reading of these properties: values other than numbers count as the fallback.
function duration(value: number | undefined, fallback = 0): number {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) return fallback;
  return Math.min(Math.ceil(value), MAX_INT32);
}

/** Node allows a thousand by default. */
function headerCount(value: number | null): number {
  if (typeof value !== 'number') return 1000;
  return value > 0 ? Math.min(Math.ceil(value), MAX_INT32) : 0;
}

function limit(value: number | null | undefined): number {
  if (value === undefined || value === null) return 0;
  return value > 0 ? Math.min(Math.ceil(value), MAX_INT32) : -1;
}
