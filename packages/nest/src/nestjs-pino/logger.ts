import {
  Inject,
  Injectable,
  type LoggerService,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { PinoLogger } from '../logger/pino-logger.ts';
import type { LevelName } from '../logger/request-log.ts';
import { PARAMS_PROVIDER_TOKEN, type Params } from './params.ts';
import { resolveParams } from './resolve-params.ts';
import { catchError, type Observable, throwError } from 'rxjs';
import { requestLog, type LoggedResponse } from '../logger/logged-response.ts';

/**
 * Nest's logger on pino, which reads its arguments like nestjs-pino: the last one is the context, those between are
 * pino's values for the message.
 */
@Injectable()
export class Logger implements LoggerService {
  protected readonly logger: PinoLogger;
  protected readonly contextName: string;
  readonly #errorName: string;

  constructor(
    @Inject(PinoLogger) logger: PinoLogger,
    @Inject(PARAMS_PROVIDER_TOKEN) params: Params,
  ) {
    this.logger = logger;
    const { keys } = resolveParams(params).shape;
    this.contextName = keys.context;
    this.#errorName = keys.err;
  }

  verbose(message: unknown, ...optionalParams: unknown[]): void {
    this.#write('trace', message, optionalParams);
  }

  debug(message: unknown, ...optionalParams: unknown[]): void {
    this.#write('debug', message, optionalParams);
  }

  log(message: unknown, ...optionalParams: unknown[]): void {
    this.#write('info', message, optionalParams);
  }

  warn(message: unknown, ...optionalParams: unknown[]): void {
    this.#write('warn', message, optionalParams);
  }

  error(message: unknown, ...optionalParams: unknown[]): void {
    this.#write('error', message, optionalParams);
  }

  fatal(message: unknown, ...optionalParams: unknown[]): void {
    this.#write('fatal', message, optionalParams);
  }

  #write(level: LevelName, message: unknown, optionalParams: unknown[]): void {
    const values = optionalParams.slice(0, -1);
    const fields: Record<string, unknown> =
      optionalParams.length === 0 ? {} : { [this.contextName]: optionalParams.at(-1) };
    if (message instanceof Error) {
      this.logger[level]({ ...fields, [this.#errorName]: message }, ...(values as [string]));
    } else if (typeof message === 'object') {
      this.logger[level]({ ...fields, ...message }, ...(values as [string]));
    } else if (level === 'error' && isMessageAndStack(message, values)) {
      const err = new Error(message as string);
      err.stack = values[0] as string;
      this.logger[level]({ ...fields, [this.#errorName]: err });
    } else {
      this.logger[level](fields, message as string, ...values);
    }
  }
}

/** Returns true for the arguments of Nest's exception handlers, which pass the stack after the message. */
function isMessageAndStack(message: unknown, values: unknown[]): boolean {
  const [stack] = values;
  return (
    typeof message === 'string' &&
    values.length === 1 &&
    typeof stack === 'string' &&
    /\n\s*at /.test(stack)
  );
}

/**
 * Adds errors below 500, a NotFoundException for instance, to the line of their response. From 500 on, the line has the error
 * without this interceptor.
 */
@Injectable()
export class LoggerErrorInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(
      catchError((error: unknown) => {
        const response = context.switchToHttp().getResponse<{ raw?: unknown } | undefined>();
        const log = ((response?.raw ?? response) as LoggedResponse | undefined)?.[requestLog];
        if (log !== undefined) {
          log.failure = error;
          log.insisted = true;
        }
        return throwError(() => error);
      }),
    );
  }
}
