import type { IncomingMessage, ServerResponse } from 'node:http';

import type { FactoryProvider, ModuleMetadata } from '@nestjs/common';
import type { DestinationStream, LevelWithSilent, Logger, LoggerOptions } from 'pino';

import type { CustomLines } from '../logger/custom-lines.ts';
import type { NativeLoggerOptions } from '../logger/options.ts';
import type { LoggedRoutes } from '../logger/options.ts';
import type { ShapeOptions } from '../logger/resolve-shape.ts';

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
