import type { DynamicModule, FactoryProvider, Provider } from '@nestjs/common';

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
  /** With parameters known beforehand. */
  forRoot(params: Params = {}): DynamicModule {
    resolveParams(params);
    return define({ provide: PARAMS_PROVIDER_TOKEN, useValue: params });
  },

  /** With parameters that other providers make. */
  forRootAsync({ imports, providers = [], ...made }: LoggerModuleAsyncParams): DynamicModule {
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
