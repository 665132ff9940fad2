import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { DeferError } from './errors.ts';
import type { Scope } from './scope.ts';

type Step = () => void;

/**
 * Keeps the bytes of a response back until its scope lets them go: Express has no hook between the body and the
 * socket. What the handler writes meanwhile is written afterwards, in its order; a response whose jobs are not safe
 * becomes a 503. Only a response that has something to wait for is touched.
 */
export function holdResponse(response: ServerResponse, scope: Scope): void {
  // What has begun to leave cannot be held any more.
  if (response.headersSent) return;
  const { write, end, writeHead, flushHeaders } = response;
  let state: 'free' | 'held' | 'open' | 'refused' = 'free';
  let owesDrain = false;
  /** What the whole reply was when the handler ended it. */
  let ended: { statusCode: number; headers: OutgoingHttpHeaders } | undefined;
  let isDisturbed = false;
  const steps: Step[] = [];

  /* True when the step is to be taken now. */
  const mayGo = (step: Step): boolean => {
    if (state === 'open') return true;
    if (state === 'refused') return false;
    if (ended !== undefined) {
      // An error behind the end, say, for which the framework makes a reply: headers are too late for it as well.
      isDisturbed = true;
      return false;
    }
    steps.push(step);
    if (state === 'free') {
      state = 'held';
      scope.hold(response.statusCode, release);
    }
    return false;
  };
  // The methods stay as they are from now on: whoever has wrapped them meanwhile must not lose that.
  const release = (error: unknown): void => {
    state = 'open';
    if (error !== undefined) {
      refuse(response, error, end);
      state = 'refused';
      return;
    }
    if (isDisturbed) restore(response, ended!);
    for (const step of steps) step();
    if (owesDrain && !response.writableEnded) response.emit('drain');
  };

  response.write = function held(...args: unknown[]): boolean {
    if (mayGo(() => void Reflect.apply(write, response, args))) {
      return Reflect.apply(write, response, args);
    }
    owesDrain = true;
    return false;
  } as typeof write;
  response.end = function held(...args: unknown[]): ServerResponse {
    if (mayGo(() => void Reflect.apply(end, response, args))) Reflect.apply(end, response, args);
    else ended ??= { statusCode: response.statusCode, headers: response.getHeaders() };
    return response;
  } as typeof end;
  response.flushHeaders = function held(): void {
    if (mayGo(() => flushHeaders.call(response))) flushHeaders.call(response);
  };
  // Sends nothing by itself, but fixes the status that the outcome is judged by.
  response.writeHead = function held(...args: unknown[]): ServerResponse {
    if (ended === undefined) response.statusCode = args[0] as number;
    if (mayGo(() => void Reflect.apply(writeHead, response, args))) {
      Reflect.apply(writeHead, response, args);
    }
    return response;
  } as typeof writeHead;
}

function restore(
  response: ServerResponse,
  { statusCode, headers }: { statusCode: number; headers: OutgoingHttpHeaders },
): void {
  response.statusCode = statusCode;
  for (const name of response.getHeaderNames()) if (!(name in headers)) response.removeHeader(name);
  for (const name in headers) response.setHeader(name, headers[name]!);
}

function refuse(response: ServerResponse, error: unknown, end: ServerResponse['end']): void {
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  const { code, message, statusCode } =
    error instanceof DeferError
      ? error
      : new DeferError('ERR_REDLINE_DEFER_NOT_ACKNOWLEDGED', String(error));
  const body = JSON.stringify({ statusCode, code, error: 'Service Unavailable', message });
  response.statusCode = statusCode;
  response.setHeader('content-type', 'application/json; charset=utf-8');
  response.setHeader('content-length', Buffer.byteLength(body));
  Reflect.apply(end, response, [body]);
}
