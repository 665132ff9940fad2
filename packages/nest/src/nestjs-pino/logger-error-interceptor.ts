import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import { catchError, type Observable, throwError } from 'rxjs';

import { requestLog, type LoggedResponse } from '../logger/logged-response.ts';

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
