import type { Bindings } from 'pino';
import type { RequestLog } from '../request-log.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** Names of the fields that are not the user's own. */
export interface LineKeys {
  readonly req: string;
  readonly res: string;
  readonly err: string;
  readonly reqId: string;
  readonly responseTime: string;
  readonly context: string;
}

export const DEFAULT_KEYS: LineKeys = {
  req: 'req',
  res: 'res',
  err: 'err',
  reqId: 'reqId',
  responseTime: 'responseTime',
  context: 'context',
};

/** The content of the lines of a request. */
export interface LineShape {
  readonly keys: LineKeys;
  /** The fields of the response line; `'slim'` ones are written without pino's help. */
  readonly fields: 'slim' | ((log: RequestLog) => Record<string, unknown>);
  /** The fields of every other line that is written during the request. */
  readonly bindings: (log: RequestLog) => Bindings;
  /** True if the response line carries the fields given to `assign()`. */
  readonly assigned: boolean;
  /** Returns the error for a 5xx without a thrown one. */
  readonly missingError?: (log: RequestLog) => Error | undefined;
  /** Replaces the fields, after everything else has set them. */
  readonly replace?: (log: RequestLog, line: Record<string, unknown>) => Record<string, unknown>;
}

/**
 * Custom levels, messages and fields, under the names of pino-http. They are
 * called with Node's messages (on Express, Express's own), which have `id` and `log`.
 */
export interface CustomLines<Request = IncomingMessage, Response = ServerResponse> {
  /**
   * The level of the response line; `'silent'` omits it. Default: `info`, `warn` for 400 and above, `error` for 500 and
   * above; `warn` if the client left.
   */
  customLogLevel?(request: Request, response: Response, error?: Error): string;
  /** The message of a response below 500. @default 'request completed', or 'request aborted' */
  customSuccessMessage?(request: Request, response: Response, responseTimeMs: number): string;
  /** The message of a response that failed: 500 and above, or an error on the line. @default 'request errored' */
  customErrorMessage?(
    request: Request,
    response: Response,
    error: Error,
    responseTimeMs: number,
  ): string;
  /** Also writes a line with this message when a request arrives. */
  customReceivedMessage?(request: Request, response: Response): string;
  /** Also writes a line with these fields when a request arrives. */
  customReceivedObject?(request: Request, response: Response): object;
  /** Replaces the fields of the line of a response below 500; `fields` are those it would have. */
  customSuccessObject?(
    request: Request,
    response: Response,
    fields: Record<string, unknown>,
  ): object;
  /** Replaces the fields of the line of a response that failed; `fields` are those it would have. */
  customErrorObject?(
    request: Request,
    response: Response,
    error: Error,
    fields: Record<string, unknown>,
  ): object;
}

export const CUSTOM_LINES: readonly (keyof CustomLines)[] = [
  'customLogLevel',
  'customSuccessMessage',
  'customErrorMessage',
  'customReceivedMessage',
  'customReceivedObject',
  'customSuccessObject',
  'customErrorObject',
];
