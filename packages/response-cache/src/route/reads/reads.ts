import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The reads of a request, other than its URL, by the code after the cache while it made a response. */
export class Reads {
  /** In lower case. */
  readonly headers: string[] = [];
  /** True once all headers were read at once: a loop, a spread, `JSON.stringify`, `rawHeaders`. */
  areHeadersListed = false;
  readonly cookies: string[] = [];
  areCookiesListed = false;
  /** True once the address of the client was read from the connection. */
  isPeerRead = false;
  /** True if the read may be only that of a getter of the protocol or the host. */
  mayBeOfOrigin = false;
  /** Properties of the request, or of `response.locals`, that something ahead of the cache has set. */
  readonly properties: string[] = [];

  /** @param _isValue false if only its presence was checked */
  noteHeader(name: string, _isValue: boolean): void {
    this.headers.push(name);
  }

  /** @param _headers the listed ones; undefined if they have no names, as in `rawHeaders` */
  noteAllHeaders(_headers?: object): void {
    this.areHeadersListed = true;
  }

  notePeer(): void {
    this.isPeerRead = true;
  }
}

/* Above 0 while a logger reads the request: its lines do not become a part of the response. */
let exempt = 0;

/**
 * Runs `work`, such as a logger that writes all headers, without counting its reads of a request as dependencies of the
 * response. For synchronous work: code after an `await` in it is observed again.
 */
export function unobserved<Result>(work: () => Result): Result {
  exempt += 1;
  try {
    return work();
  } finally {
    exempt -= 1;
  }
}

/** Returns false within {@link unobserved}. */
export function isObserved(): boolean {
  return exempt === 0;
}

/** The code that has read a part of a request. */
export interface Reader {
  /** A package by its name, a file of the app by its path. */
  readonly name: string;
  /** True for a package that observes or logs requests, and puts nothing into responses. */
  readonly isObserver: boolean;
  /** True if Nest was creating a provider for the request: its handler gets what the constructor reads. */
  readonly isOfHandler: boolean;
}

/* Packages that read a request for their callers. */
const helpers: ReadonlySet<string> = new Set(
  'accepts negotiator type-is proxy-addr @fastify/proxy-addr forwarded parseurl fresh content-type cookie @tinyhttp/accepts'.split(
    ' ',
  ),
);
const helperFile = /[\\/](?:express|fastify)[\\/]lib[\\/]request\.js$/;

/* Packages that read a request for their own routing and parsing. */
const frameworks: ReadonlySet<string> = new Set(
  'fastify express router connect find-my-way @nestjs/core @nestjs/common @nestjs/platform-express @nestjs/platform-fastify @fastify/middie @redline/http @redline/nest @redline/response-cache @redline/defer body-parser finalhandler serve-static send light-my-request rxjs'.split(
    ' ',
  ),
);

const observers =
  /^(?:dd-trace|newrelic|elastic-apm-node|applicationinsights|@opentelemetry\/.+|@sentry\/.+|@appsignal\/.+|@datadog\/.+|pino-http|nestjs-pino|morgan|express-winston|winston|hot-shots|prom-client|express-prom-bundle|fastify-metrics|cls-rtracer)$/;

const ofPackage = /^.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/;
const location = /(?:\(|at (?:async )?)((?:file:\/\/|\/|[A-Za-z]:[\\/])[^()]*):\d+:\d+\)?$/;
/* The path of this file comes from the stack: Jest and bundlers compile to CommonJS, which has no import.meta. */
const ownFile = /^(.*[\\/]route[\\/]reads[\\/])reads\.[jt]s$/;
const observing = /^(?:ahead|observe|reads|stand-ins|traps)\.[jt]s$/;
/* This package and its siblings: packages of a workspace are not below node_modules. */
const built = /^[^\\/]+[\\/](?:src|dist)[\\/]/;

/**
 * Names the caller that reads a request at this moment; undefined if it is a framework or the cache. A stack takes some 10 µs,
 * which only watched requests pay.
 */
export function readerOf(): Reader | undefined {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 16;
  const { stack } = new Error('who reads');
  Error.stackTraceLimit = limit;
  // An app's own hook for stacks may return anything.
  if (typeof stack !== 'string') return unknown;
  let here: string | undefined;
  for (const line of stack.split('\n').slice(1)) {
    // Frames of Node and of builtins have no path.
    const file = location.exec(line)?.[1];
    if (file === undefined) continue;
    const path = file.startsWith('file:') ? fileURLToPath(file) : file;
    if (here === undefined) {
      here = ownFile.exec(path)?.[1];
      // In a bundle everything is in one file.
      if (here === undefined) return unknown;
      continue;
    }
    if (path.startsWith(here) && observing.test(path.slice(here.length))) continue;
    const siblings = join(here, '../../../../');
    if (path.startsWith(siblings) && built.test(path.slice(siblings.length))) return undefined;
    const name = ofPackage.exec(path)?.[1]?.replaceAll('\\', '/');
    if (name !== undefined && (helpers.has(name) || helperFile.test(path))) continue;
    // Code further down the stack has called it long ago, by next().
    if (name !== undefined && frameworks.has(name)) return undefined;
    return {
      name: name ?? relative(process.cwd(), path),
      isObserver: name !== undefined && observers.test(name),
      isOfHandler: /@nestjs[\\/]core[\\/]injector[\\/]/.test(stack),
    };
  }
  return undefined;
}

const unknown: Reader = { name: 'unknown code', isObserver: false, isOfHandler: false };

/** The request headers, besides `Cookie`, that identify the caller. */
export const credentialHeaders: readonly string[] = [
  'authorization',
  'proxy-authorization',
  'x-api-key',
  'api-key',
  'x-auth-token',
  'x-access-token',
  'x-tenant-id',
  'x-user-id',
];
