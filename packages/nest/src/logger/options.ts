import type { IncomingMessage } from 'node:http';

import type { MiddlewareConsumer } from '@nestjs/common';
/** @ts-ignore: an optional peer; without it, these types are any. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { DestinationStream, Logger, LoggerOptions } from 'pino';

import { CUSTOM_LINES, type CustomLines, type LineShape } from './line/line-shape.ts';
import { optionError, refuseUnknown } from './errors.ts';
import { resolveShape, type ShapeOptions } from './line/resolve-shape.ts';
import { mergeRedaction, type Redaction } from './line/redaction.ts';
import type { RequestLog } from './request-log.ts';

/** Options of Nest's `ConsoleLogger` that shape its JSON. */
export interface NativeLoggerOptions {
  /** If true, plain objects after the message are one field `params`. @default that of the installed Nest */
  structuredParams?: boolean;
  /** If true, they are fields of the line itself. @default false */
  flattenParams?: boolean;
}

/** The responses that get a line. */
export type RequestLines = 'all' | 'errors' | 'off' | { sample: number };

type ConfiguredMiddleware = ReturnType<MiddlewareConsumer['apply']>;

/** The routes whose responses have lines, as Nest's own `consumer.apply()` takes them. */
export interface LoggedRoutes {
  exclude?: Parameters<ConfiguredMiddleware['exclude']>;
  forRoutes?: Parameters<ConfiguredMiddleware['forRoutes']>;
}

/** The source of request ids. */
export interface RequestIdOptions {
  /**
   * The request header that supplies the id, `false` for none. An id from the client is used only if it is 1 to 128
   * characters of `A-Z a-z 0-9 - _ . : / + = @ ~`; any other is replaced.
   * @default "x-request-id"
   */
  header?: string | false;
  /**
   * Creates the id of a request without one. The result must consist of the same characters as an id from the client.
   * @default a random prefix per process and a counter
   */
  generate?: () => string;
  /**
   * Sends the id back with the response: `true` in the same header, a string in that header.
   * @default false
   */
  echo?: boolean | string;
}

/**
 * Options of `LoggerModule.forRoot()`; all are optional. On Express, `Request` and `Reply` are
 * Express's.
 */
export interface LoggerModuleOptions<Request = FastifyRequest, Reply = FastifyReply>
  extends CustomLines, LoggedRoutes, ShapeOptions<Request, Reply> {
  /**
   * `"all"`: one line per response. `"errors"`: responses with status 400 and above, and aborted
   * requests. `{ sample: 0.1 }`: every error and a tenth of the rest. `"off"`: none.
   * @default "all"
   */
  requests?: RequestLines;
  /**
   * The same for work that is not an HTTP request: messages of microservices and gateways, `@Cron` and the like, jobs of BullMQ.
   * Failed work is an error; `RpcException`, `WsException` and exceptions below 500 are warnings.
   * @default the value of `requests`
   */
  messages?: RequestLines;
  /** Responses to these requests get no line, whatever their status. */
  ignore?: (request: Request) => boolean;
  /**
   * The lowest level that is written: one of pino's, or one of `pino.customLevels`.
   * @default "info"
   */
  level?: string;
  /**
   * Paths to redact, as pino's `redact`. They are added to the default ones; `false` disables redaction.
   * @default authorization, proxy-authorization, cookie and set-cookie under req.headers and res.headers
   */
  redact?: false | Redaction;
  /** The source of request ids. */
  requestId?: RequestIdOptions;
  /**
   * Makes the request available to every logger called by its handler (an `AsyncLocalStorage`).
   * Without it only `request.log` carries the request's id.
   * @default true
   */
  context?: boolean;
  /**
   * A path, a file descriptor, or anything with `write(line)`. Lines for a path or a descriptor
   * are buffered and written asynchronously; a stream gets each line at once.
   * @default 1 (stdout)
   */
  destination?: string | number | DestinationStream;
  /**
   * Characters gathered before a write to a path or a descriptor; `0` writes each line at once
   * and synchronously.
   * @default 16384
   */
  bufferLength?: number;
  /**
   * Max time, in milliseconds, that a line stays in the buffer of a quiet server.
   * @default 250
   */
  flushIntervalMs?: number;
  /**
   * Writes the buffer on SIGTERM, SIGINT and SIGHUP, and dies of the signal if there are no other listeners.
   * @default true
   */
  signals?: boolean;
  /** All other options of pino: `base`, `timestamp`, `formatters`, `transport`, `customLevels`... */
  pino?: Omit<LoggerOptions, 'level' | 'redact'>;
}

/** The options, with all defaults. */
export interface ResolvedOptions {
  readonly requests: 'all' | 'errors' | 'off' | 'sample';
  /** The share of successful responses that get a line, 0 to 1. */
  readonly share: number;
  readonly messages: 'all' | 'errors' | 'off' | 'sample';
  /** The share of successful messages that get a line, 0 to 1. */
  readonly messageShare: number;
  readonly shape: LineShape;
  readonly custom: CustomLines;
  readonly routes: LoggedRoutes;
  readonly ignore: ((log: RequestLog) => boolean) | undefined;
  readonly level: string;
  readonly redact: Redaction | undefined;
  readonly requestId: {
    readonly header: string | undefined;
    readonly generate: (() => string) | undefined;
    /** Makes all ids, which are not checked. */
    readonly make?: (request: IncomingMessage) => string;
    /** True if, on Fastify, the ids are those that its adapter makes. */
    readonly isFastifys?: boolean;
    readonly echo: string | undefined;
  };
  readonly context: boolean;
  readonly destination: string | number | DestinationStream;
  readonly bufferLength: number;
  readonly flushIntervalMs: number;
  readonly signals: boolean;
  readonly pino: Omit<LoggerOptions, 'level' | 'redact'>;
  /** An existing logger, used in place of one made from `pino` and `destination`. */
  readonly logger?: Logger;
  readonly nativeLogger?: NativeLoggerOptions;
}

const optionNames: Readonly<Record<keyof LoggerModuleOptions, true>> = {
  requests: true,
  messages: true,
  fields: true,
  ignore: true,
  exclude: true,
  forRoutes: true,
  customAttributeKeys: true,
  renameContext: true,
  customProps: true,
  customLogLevel: true,
  customSuccessMessage: true,
  customErrorMessage: true,
  customReceivedMessage: true,
  customReceivedObject: true,
  customSuccessObject: true,
  customErrorObject: true,
  level: true,
  redact: true,
  requestId: true,
  context: true,
  destination: true,
  bufferLength: true,
  flushIntervalMs: true,
  signals: true,
  pino: true,
};

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;

/**
 * Checks the options and fills in the defaults.
 * @throws {LoggerError} `ERR_REDLINE_LOGGER_OPTION`, `ERR_REDLINE_LOGGER_UNKNOWN_OPTION`
 */
export function resolveOptions<Request, Reply>(
  options: LoggerModuleOptions<Request, Reply> = {},
): ResolvedOptions {
  if (!isObject(options)) throw optionError('options', options, 'an object');
  refuseUnknown('LoggerModule', options, optionNames);
  const { ignore, level = 'info', destination = 1, pino = {} } = options;
  if (ignore !== undefined && typeof ignore !== 'function') {
    throw optionError('ignore', ignore, 'a function from request to boolean');
  }
  if (typeof level !== 'string') throw optionError('level', level, "a level's name");
  if (!isDestination(destination)) {
    throw optionError('destination', destination, 'a path, a file descriptor or a stream');
  }
  checkPino(pino, options.destination);
  const shape = resolveShape(options, options);
  const requests = resolveRequests(options.requests);
  const messages =
    options.messages === undefined ? requests : resolveRequests(options.messages, 'messages');
  return {
    ...requests,
    messages: messages.requests,
    messageShare: messages.share,
    shape,
    custom: resolveCustom(options),
    routes: resolveRoutes(options),
    ignore: ignore && ((log) => ignore(log.request as Request)),
    level,
    redact: mergeRedaction(options.redact, shape.keys),
    requestId: resolveRequestId(options.requestId),
    context: resolveBoolean('context', options.context),
    destination,
    bufferLength: resolveInteger('bufferLength', options.bufferLength, {
      preset: 16_384,
      min: 0,
      max: 1_048_576,
    }),
    flushIntervalMs: resolveInteger('flushIntervalMs', options.flushIntervalMs, {
      preset: 250,
      min: 1,
      max: 60_000,
    }),
    signals: resolveBoolean('signals', options.signals),
    pino,
  };
}

function resolveRequests(
  requests: RequestLines = 'all',
  name = 'requests',
): Pick<ResolvedOptions, 'requests' | 'share'> {
  if (requests === 'all') return { requests, share: 1 };
  if (requests === 'errors' || requests === 'off') return { requests, share: 0 };
  const share = isRecord(requests) ? requests['sample'] : undefined;
  if (typeof share !== 'number' || !(share >= 0 && share <= 1)) {
    throw optionError(name, requests, '"all", "errors", "off" or { sample: 0 to 1 }');
  }
  return { requests: 'sample', share };
}

function resolveCustom(options: CustomLines): CustomLines {
  for (const name of CUSTOM_LINES) {
    const given = options[name];
    if (given !== undefined && typeof given !== 'function') {
      throw optionError(name, given, 'a function');
    }
  }
  return options;
}

function resolveRoutes({ exclude, forRoutes }: LoggedRoutes): LoggedRoutes {
  for (const [name, given] of Object.entries({ exclude, forRoutes })) {
    if (given !== undefined && !(Array.isArray(given) && given.every(isRoute))) {
      throw optionError(name, given, "an array of routes, as Nest's middleware takes them");
    }
  }
  return { ...(exclude && { exclude }), ...(forRoutes && { forRoutes }) };
}

/** Returns true for a path, a controller, or a path with a method. */
function isRoute(route: unknown): boolean {
  if (typeof route === 'string' || typeof route === 'function') return true;
  return isRecord(route) && typeof route['path'] === 'string';
}

function resolveRequestId(options: RequestIdOptions = {}): ResolvedOptions['requestId'] {
  if (!isObject(options)) throw optionError('requestId', options, 'an object');
  refuseUnknown('requestId', options, { header: true, generate: true, echo: true });
  const { header = 'x-request-id', generate, echo = false } = options;
  if (header !== false && !isHeaderName(header)) {
    throw optionError('requestId.header', header, "a header's name or false");
  }
  if (generate !== undefined && typeof generate !== 'function') {
    throw optionError('requestId.generate', generate, 'a function that returns an id');
  }
  if (typeof echo !== 'boolean' && !isHeaderName(echo)) {
    throw optionError('requestId.echo', echo, "a boolean or a header's name");
  }
  const source = header === false ? undefined : header.toLowerCase();
  const target = echo === true ? (source ?? 'x-request-id') : echo || undefined;
  return { header: source, generate, echo: target?.toLowerCase() };
}

function checkPino(pino: unknown, destination: unknown): void {
  if (!isRecord(pino)) throw optionError('pino', pino, "an object of pino's options");
  for (const name of ['level', 'redact']) {
    if (name in pino) {
      throw optionError(`pino.${name}`, pino[name], `omitted: it is a separate option`);
    }
  }
  if (pino['useOnlyCustomLevels'] === true) {
    throw optionError(
      'pino.useOnlyCustomLevels',
      true,
      'off: lines are written at info, warn and error',
    );
  }
  if (pino['transport'] !== undefined && destination !== undefined) {
    throw optionError('destination', destination, 'omitted next to pino.transport');
  }
}

function resolveBoolean(name: string, value: unknown): boolean {
  if (value === undefined) return true;
  if (typeof value !== 'boolean') throw optionError(name, value, 'a boolean');
  return value;
}

function resolveInteger(
  name: string,
  value: unknown,
  { preset, min, max }: { preset: number; min: number; max: number },
): number {
  if (value === undefined) return preset;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max) {
    throw optionError(name, value, `a whole number from ${min} to ${max}`);
  }
  return value;
}

function isDestination(value: unknown): value is string | number | DestinationStream {
  if (typeof value === 'string') return value !== '';
  if (typeof value === 'number') return Number.isInteger(value) && value >= 0;
  return isRecord(value) && typeof value['write'] === 'function';
}

function isHeaderName(value: unknown): value is string {
  return typeof value === 'string' && HEADER_NAME.test(value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return isObject(value);
}

/** Returns true for an object; for typed values that a caller in JavaScript may still get wrong. */
function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}
