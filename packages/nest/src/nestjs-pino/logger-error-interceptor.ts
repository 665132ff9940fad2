import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import { catchError, type Observable, throwError } from 'rxjs';

import { requestLog, type LoggedResponse } from '../logger/logged-response.ts';

/**
 * Has the line of a response carry what was thrown below 500 as well, a NotFoundException for instance. From 500 on it does
 * without.
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
