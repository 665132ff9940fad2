import type { IncomingMessage, ServerResponse } from 'node:http';

import type { DestinationStream } from 'pino';

import { withoutRejection } from '../logger/callback-fault.ts';
import { CUSTOM_LINES, type CustomLines } from '../logger/line/line-shape.ts';
import { heldResponseOf } from '../logger/held-response.ts';
import { optionError, refuseUnknown } from '../logger/errors.ts';
import { resolveOptions, type ResolvedOptions } from '../logger/options.ts';
import {
  checkParams,
  checkPinoHttp,
  isRecord,
  knownLevels,
  pinoHttpForms,
  type Params,
  type PinoHttpOptions,
} from './params.ts';
import { pinoHttpSerializers, pinoHttpShape } from './pino-http-shape.ts';

const paramNames: Readonly<Record<keyof Params, true>> = {
  pinoHttp: true,
  exclude: true,
  forRoutes: true,
  renameContext: true,
  assignResponse: true,
  nativeLogger: true,
};

/**
 * Converts nestjs-pino's parameters to the logger's own options: lines, levels and ids are those of pino-http.
 * @throws {LoggerError} `ERR_REDLINE_LOGGER_OPTION`, `ERR_REDLINE_LOGGER_UNKNOWN_OPTION`
 */
export function resolveParams(params: Params = {}): ResolvedOptions {
  if (!isRecord(params)) throw optionError('params', params, 'an object');
  refuseUnknown('LoggerModule', params, paramNames);
  checkParams(params);
  const { exclude, forRoutes, renameContext, nativeLogger } = params;
  const { options, stream } = readPinoHttp(params.pinoHttp);
  checkPinoHttp(options, stream);
  const {
    logger,
    genReqId,
    level = logger?.level ?? 'info',
    redact,
    useLevel,
    autoLogging,
    customProps: _customProps,
    customAttributeKeys,
    quietReqLogger: _quietReqLogger,
    quietResLogger: _quietResLogger,
    wrapSerializers: _wrapSerializers,
    stream: _stream,
    ...rest
  } = options;
  const custom: CustomLines = {};
  for (const name of CUSTOM_LINES) {
    if (rest[name] !== undefined) custom[name] = rest[name] as never;
    delete rest[name];
  }
  if (useLevel !== undefined && custom.customLogLevel !== undefined) {
    throw optionError('pinoHttp.useLevel', useLevel, 'omitted next to customLogLevel');
  }
  const resolved = resolveOptions<unknown, unknown>({
    ...custom,
    customLogLevel: levelByDefault(custom, useLevel ?? 'info', options),
    ...(exclude !== undefined && { exclude }),
    ...(forRoutes !== undefined && { forRoutes }),
    ...(customAttributeKeys !== undefined && { customAttributeKeys }),
    ...(renameContext !== undefined && { renameContext }),
    level,
    pino: rest,
    requests: autoLogging === false ? 'off' : 'all',
    // nestjs-pino has no lines for messages. Lines that are logged meanwhile still have the id.
    messages: 'off',
    ...(stream !== undefined && { destination: stream }),
  });
  const ignore = typeof autoLogging === 'object' ? autoLogging.ignore : undefined;
  return {
    ...resolved,
    shape: pinoHttpShape(params, options, resolved.shape),
    pino: {
      ...rest,
      serializers: pinoHttpSerializers(options, resolved.shape.keys, redact === undefined),
    },
    redact,
    requestId: {
      ...resolved.requestId,
      make: genReqId === undefined ? counter() : madeBy(genReqId),
      isFastifys: genReqId === undefined,
    },
    ignore: ignore && ((log) => ignore(log.rawRequest)),
    ...(logger && { logger }),
    ...(nativeLogger && { nativeLogger }),
  };
}

function readPinoHttp(given: Params['pinoHttp'] = {}): {
  options: PinoHttpOptions;
  stream: DestinationStream | undefined;
} {
  if (Array.isArray(given)) return { options: given[0] ?? {}, stream: given[1] };
  if (!isRecord(given)) throw optionError('pinoHttp', given, pinoHttpForms);
  if (isStream(given)) return { options: {}, stream: given };
  return { options: given, stream: given.stream };
}

function isStream(given: object): given is DestinationStream {
  return typeof (given as Partial<DestinationStream>).write === 'function';
}

/** Returns pino-http's level function: it has one level for all responses, and uses it for unknown levels as well. */
function levelByDefault(
  { customLogLevel }: CustomLines,
  level: string,
  options: PinoHttpOptions,
): NonNullable<CustomLines['customLogLevel']> {
  if (customLogLevel === undefined) return () => level;
  const known = knownLevels(options);
  return (request, response, error) => {
    const chosen: unknown = withoutRejection(customLogLevel(request, response, error));
    return typeof chosen === 'string' && known.has(chosen.trim()) ? chosen.trim() : level;
  };
}

type MakeId = (request: IncomingMessage) => string;

function counter(): MakeId {
  let count = 0;
  return () => {
    count = (count + 1) & 0x7fff_ffff;
    return count as unknown as string;
  };
}

function madeBy(genReqId: NonNullable<PinoHttpOptions['genReqId']>): MakeId {
  // Fastify makes the id before it has a reply.
  return (request) => withoutRejection(genReqId(request, responseOf(request))) as string;
}

function responseOf(request: IncomingMessage): ServerResponse {
  const { res } = request as IncomingMessage & { res?: ServerResponse };
  return res ?? (heldResponseOf(request) as unknown as ServerResponse);
}
