import type { IncomingMessage, ServerResponse } from 'node:http';

import type { FactoryProvider, ModuleMetadata } from '@nestjs/common';
import type { DestinationStream, LevelWithSilent, Logger, LoggerOptions } from 'pino';

import type { CustomLines } from '../logger/custom-lines.ts';
import type { NativeLoggerOptions } from '../logger/options.ts';
import type { LoggedRoutes } from '../logger/options.ts';
import type { ShapeOptions } from '../logger/resolve-shape.ts';

/** nestjs-pino's token for the parameters. */
export const PARAMS_PROVIDER_TOKEN = 'pino-params';

/** The options of pino-http: pino's, and those about requests. */
export interface PinoHttpOptions
  extends
    Omit<LoggerOptions, 'customLevels'>,
    CustomLines,
    Pick<ShapeOptions<IncomingMessage, ServerResponse>, 'customAttributeKeys'> {
  customLevels?: Record<string, number>;
  /** A pino logger that is made already. */
  logger?: Logger;
  stream?: DestinationStream;
  genReqId?(request: IncomingMessage, response: ServerResponse): unknown;
  /** The level of every response line, unless `customLogLevel` says otherwise. @default 'info' */
  useLevel?: LevelWithSilent | (string & {});
  autoLogging?: boolean | { ignore?(request: IncomingMessage): boolean };
  customProps?: object | ((request: never, response: never) => object);
  /** Whether serializers get pino's plain objects in place of Node's messages. @default true */
  wrapSerializers?: boolean;
  /** Lines during a request carry its id alone. @default false */
  quietReqLogger?: boolean;
  /** The response line carries no `req`. @default false */
  quietResLogger?: boolean;
}

/** The parameters of nestjs-pino. */
export interface Params extends LoggedRoutes {
  pinoHttp?: PinoHttpOptions | DestinationStream | [PinoHttpOptions, DestinationStream];
  /** The name of the field `context`. */
  renameContext?: string;
  /** Whether the response line carries what `assign()` has gathered. @default false */
  assignResponse?: boolean;
  nativeLogger?: NativeLoggerOptions;
}

/** Parameters that other providers make. */
export interface LoggerModuleAsyncParams
  extends
    Pick<ModuleMetadata, 'imports' | 'providers'>,
    Pick<FactoryProvider<Params>, 'useFactory' | 'inject'> {}
