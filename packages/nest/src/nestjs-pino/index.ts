/** The names and the lines of nestjs-pino: moving from it is a change of this import. */
export {
  InjectLogger as InjectPinoLogger,
  getLoggerToken,
  PinoLogger,
} from '../logger/pino-logger.ts';
export { NativeLogger, nativeLoggerOptions } from '../logger/native-logger.ts';
export type { RunInContextOptions } from '../logger/logger-core.ts';
export { Logger, LoggerErrorInterceptor } from './logger.ts';
export { LoggerModule } from './logger-module.ts';
export {
  type LoggerModuleAsyncParams,
  PARAMS_PROVIDER_TOKEN,
  type Params,
  type PinoHttpOptions,
} from './params.ts';
