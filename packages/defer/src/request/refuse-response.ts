import { STATUS_CODES, type ServerResponse } from 'node:http';
import { DeferError } from '../errors.ts';
import { messageOf } from '../thrown.ts';
import { unwrappedOf } from './response-methods.ts';

/**
 * Sends the error in place of the response, none of which has left. Bypasses all wrappers: they may already have applied
 * their changes to the body and its header for the original response, and only in part.
 */
export function refuseResponse(response: ServerResponse, error: unknown): void {
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  const { code, message, statusCode } =
    error instanceof DeferError
      ? error
      : new DeferError('ERR_REDLINE_DEFER_NOT_ACKNOWLEDGED', messageOf(error));
  const body = JSON.stringify({ statusCode, code, error: STATUS_CODES[statusCode], message });
  response.statusCode = statusCode;
  response.setHeader('content-type', 'application/json; charset=utf-8');
  response.setHeader('content-length', Buffer.byteLength(body));
  const { writeHead, end } = unwrappedOf(response);
  Reflect.apply(writeHead, response, [statusCode]);
  Reflect.apply(end, response, [body]);
}
