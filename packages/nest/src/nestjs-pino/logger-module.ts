import type { IncomingMessage, ServerResponse } from 'node:http';

import type { DynamicModule, FactoryProvider, Provider } from '@nestjs/common';

import { checkFactory } from '../logger/errors.ts';
import { LoggerCore } from '../logger/logger-core.ts';
import { defineLoggerModule } from '../logger/logger-module.ts';
import { Logger } from './logger.ts';
import { type LoggerModuleAsyncParams, PARAMS_PROVIDER_TOKEN, type Params } from './params.ts';
import { resolveParams } from './resolve-params.ts';

const core: FactoryProvider = {
  provide: LoggerCore,
  inject: [PARAMS_PROVIDER_TOKEN],
  useFactory: (params: Params) => new LoggerCore(resolveParams(params)),
};

/**
 * nestjs-pino's module, with its parameters and its lines, on the logger of this package: no middleware, one line for
 * each response.
 *
 * @throws {LoggerError} with a code that starts with `ERR_REDLINE_LOGGER_`
 * @example
 * LoggerModule.forRoot({ pinoHttp: { level: 'debug', quietReqLogger: true } })
 */
export const LoggerModule = {
  /** Takes static parameters. */
  forRoot<
    Request = IncomingMessage,
    Response = ServerResponse,
    CustomLevels extends string = never,
  >(params: Params<Request, Response, CustomLevels> = {}): DynamicModule {
    resolveParams(params as Params);
    return define({ provide: PARAMS_PROVIDER_TOKEN, useValue: params });
  },

  /** Takes parameters from other providers. */
  forRootAsync<
    Request = IncomingMessage,
    Response = ServerResponse,
    CustomLevels extends string = never,
  >(options: LoggerModuleAsyncParams<Request, Response, CustomLevels>): DynamicModule {
    checkFactory(options);
    const { imports, providers = [], ...made } = options;
    return define({ provide: PARAMS_PROVIDER_TOKEN, ...made }, imports, providers);
  },
} as const;

function define(
  params: Provider,
  imports: DynamicModule['imports'] = [],
  more: Provider[] = [],
): DynamicModule {
  const { module, providers = [], exports = [] } = defineLoggerModule(core, imports);
  return {
    module,
    global: true,
    imports,
    providers: [params, Logger, ...providers, ...more],
    exports: [params, Logger, ...exports],
  };
}
