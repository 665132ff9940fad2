import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Levels, messages and fields of the user's own, under the names pino-http has for them. They are
 * called with Node's messages (on Express, Express's own), which have `id` and `log`.
 */
export interface CustomLines {
  /**
   * The level of the response line; `'silent'` leaves it out. Without it: `info`, from 400 on
   * `warn`, from 500 on `error`; `warn` if the client left.
   */
  customLogLevel?(request: IncomingMessage, response: ServerResponse, error?: Error): string;
  /** The message of a response below 500. @default 'request completed', or 'request aborted' */
  customSuccessMessage?(
    request: IncomingMessage,
    response: ServerResponse,
    responseTimeMs: number,
  ): string;
  /** The message of a response that failed: 500 and above, or an error on the line. @default 'request errored' */
  customErrorMessage?(
    request: IncomingMessage,
    response: ServerResponse,
    error: Error,
    responseTimeMs: number,
  ): string;
  /** Writes a line with this message when a request comes, as well. */
  customReceivedMessage?(request: IncomingMessage, response: ServerResponse): string;
  /** Writes a line with these fields when a request comes, as well. */
  customReceivedObject?(request: IncomingMessage, response: ServerResponse): object;
  /** Replaces the fields of the line of a response below 500; `fields` are those it would have. */
  customSuccessObject?(
    request: IncomingMessage,
    response: ServerResponse,
    fields: Record<string, unknown>,
  ): object;
  /** Replaces the fields of the line of a response that failed; `fields` are those it would have. */
  customErrorObject?(
    request: IncomingMessage,
    response: ServerResponse,
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
