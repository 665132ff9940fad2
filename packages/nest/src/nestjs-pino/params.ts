import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FactoryProvider, ModuleMetadata } from '@nestjs/common';
import type { DestinationStream, LevelWithSilent, Logger, LoggerOptions } from 'pino';
import { type CustomLines, CUSTOM_LINES } from '../logger/line/line-shape.ts';
import type { NativeLoggerOptions, LoggedRoutes } from '../logger/options.ts';
import type { ShapeOptions } from '../logger/line/resolve-shape.ts';
import { optionError, refuseUnknown } from '../logger/errors.ts';

/** nestjs-pino's token for the parameters. */
export const PARAMS_PROVIDER_TOKEN = 'pino-params';

/**
 * The options of pino-http: pino's, and those for requests. Like its own type, it takes the types of request and
 * response, and the names of `customLevels`.
 */
export interface PinoHttpOptions<
  Request = IncomingMessage,
  Response = ServerResponse,
  CustomLevels extends string = never,
>
  extends
    Omit<LoggerOptions, 'customLevels'>,
    CustomLines<Request, Response>,
    Pick<ShapeOptions<Request, Response>, 'customAttributeKeys'> {
  customLevels?: Record<string, number>;
  /** An existing pino logger. */
  logger?: Logger<CustomLevels>;
  stream?: DestinationStream;
  genReqId?(request: Request, response: Response): unknown;
  /** The level of every response line, unless `customLogLevel` says otherwise. @default 'info' */
  useLevel?: LevelWithSilent | (string & {});
  autoLogging?: boolean | { ignore?(request: Request): boolean };
  customProps?: object | ((request: Request, response: Response) => object);
  /** If true, serializers get pino's plain objects in place of Node's messages. @default true */
  wrapSerializers?: boolean;
  /** If true, lines during a request carry only its id. @default false */
  quietReqLogger?: boolean;
  /** If true, the response line has no `req`. @default false */
  quietResLogger?: boolean;
}

/** The parameters of nestjs-pino, with its type parameters. */
export interface Params<
  Request = IncomingMessage,
  Response = ServerResponse,
  CustomLevels extends string = never,
> extends LoggedRoutes {
  pinoHttp?:
    | PinoHttpOptions<Request, Response, CustomLevels>
    | DestinationStream
    | [PinoHttpOptions<Request, Response, CustomLevels>, DestinationStream];
  /** The name of the field `context`. */
  renameContext?: string;
  /** If true, the response line carries the fields given to `assign()`. @default false */
  assignResponse?: boolean;
  nativeLogger?: NativeLoggerOptions;
}

/** Parameters from other providers. */
export interface LoggerModuleAsyncParams<
  Request = IncomingMessage,
  Response = ServerResponse,
  CustomLevels extends string = never,
>
  extends
    Pick<ModuleMetadata, 'imports' | 'providers'>,
    Pick<FactoryProvider<Params<Request, Response, CustomLevels>>, 'useFactory' | 'inject'> {}

/* nestjs-pino does not check these; a value of the wrong type would silently do something else. */

export const pinoHttpForms = 'an object of options, a stream or [options, stream]';

/** @throws {LoggerError} `ERR_REDLINE_LOGGER_OPTION`, `ERR_REDLINE_LOGGER_UNKNOWN_OPTION` */
export function checkParams({ assignResponse, nativeLogger }: Params): void {
  checkBoolean('assignResponse', assignResponse);
  if (nativeLogger === undefined) return;
  if (!isRecord(nativeLogger)) throw optionError('nativeLogger', nativeLogger, 'an object');
  refuseUnknown('nativeLogger', nativeLogger, { structuredParams: true, flattenParams: true });
  checkBoolean('nativeLogger.structuredParams', nativeLogger.structuredParams);
  checkBoolean('nativeLogger.flattenParams', nativeLogger.flattenParams);
}

/** @throws {LoggerError} `ERR_REDLINE_LOGGER_OPTION`, `ERR_REDLINE_LOGGER_UNKNOWN_OPTION` */
export function checkPinoHttp(options: PinoHttpOptions, stream: unknown): void {
  if (!isRecord(options)) throw optionError('pinoHttp', options, pinoHttpForms);
  const { logger, genReqId, useLevel, autoLogging, customProps } = options;
  if (logger !== undefined && !hasMethod(logger, 'child')) {
    throw optionError('pinoHttp.logger', logger, "pino's logger");
  }
  if (stream !== undefined && !hasMethod(stream, 'write')) {
    throw optionError('pinoHttp.stream', stream, 'a stream');
  }
  if (genReqId !== undefined && typeof genReqId !== 'function') {
    throw optionError('pinoHttp.genReqId', genReqId, 'a function that returns an id');
  }
  const levels = knownLevels(options);
  if (useLevel !== undefined && !levels.has(useLevel)) {
    throw optionError('pinoHttp.useLevel', useLevel, `one of ${[...levels].join(', ')}`);
  }
  for (const name of CUSTOM_LINES) {
    const given: unknown = options[name];
    if (given !== undefined && typeof given !== 'function') {
      throw optionError(`pinoHttp.${name}`, given, 'a function');
    }
  }
  checkAutoLogging(autoLogging);
  const isObject = typeof customProps === 'function' || isRecord(customProps);
  if (customProps !== undefined && !isObject) {
    throw optionError('pinoHttp.customProps', customProps, 'an object or a function of one');
  }
  for (const name of ['wrapSerializers', 'quietReqLogger', 'quietResLogger'] as const)
    checkBoolean(`pinoHttp.${name}`, options[name]);
}

export function knownLevels({ customLevels = {}, logger }: PinoHttpOptions): ReadonlySet<string> {
  const own = [...Object.keys(customLevels), ...Object.keys(logger?.levels?.values ?? {})];
  return new Set(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent', ...own]);
}

export function isRecord(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function checkAutoLogging(autoLogging: PinoHttpOptions['autoLogging']): void {
  if (autoLogging === undefined || typeof autoLogging === 'boolean') return;
  if (!isRecord(autoLogging)) {
    throw optionError('pinoHttp.autoLogging', autoLogging, 'a boolean or { ignore }');
  }
  refuseUnknown('pinoHttp.autoLogging', autoLogging, { ignore: true });
  const { ignore } = autoLogging;
  if (ignore !== undefined && typeof ignore !== 'function') {
    throw optionError('pinoHttp.autoLogging.ignore', ignore, 'a function from request to boolean');
  }
}

function checkBoolean(name: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'boolean') {
    throw optionError(name, value, 'a boolean');
  }
}

function hasMethod(value: unknown, name: string): boolean {
  return typeof (value as Record<string, unknown> | null)?.[name] === 'function';
}
