import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { DeferError } from '../errors.ts';
import { messageOf } from '../thrown.ts';
import type { HeldReply, Scope } from './scope.ts';
import { cutOff } from './watch-end.ts';

type Name = 'write' | 'end' | 'writeHead' | 'flushHeaders';

/** A call that comes later. */
interface Step {
  readonly name: Name;
  readonly args: unknown[];
}

/**
 * Keeps the bytes of a response back until its scope lets them go: Express has no hook between the body and the
 * socket. What the handler writes meanwhile is written afterwards, in its order; a response whose jobs are not safe
 * becomes a 503, and one that has begun to leave by then is cut off. Only a response that has something to wait for is
 * touched.
 */
export class HeldResponse implements HeldReply {
  readonly #response: ServerResponse;
  readonly #scope: Scope;
  /** The response's own methods, or of whoever wrapped them before. */
  readonly #own: Readonly<Record<Name, (...args: never[]) => unknown>>;
  readonly #steps: Step[] = [];
  #state: 'free' | 'held' | 'open' | 'refused' = 'free';
  #owesDrain = false;
  /** What the whole reply was when the handler ended it. */
  #ended: { statusCode: number; headers: OutgoingHttpHeaders } | undefined;
  #isDisturbed = false;

  constructor(response: ServerResponse, scope: Scope) {
    const { write, end, writeHead, flushHeaders } = response;
    this.#response = response;
    this.#scope = scope;
    this.#own = { write, end, writeHead, flushHeaders };
    // They stay as they are from now on: whoever has wrapped them meanwhile must not lose that.
    response.write = this.write.bind(this) as typeof response.write;
    response.end = this.end.bind(this) as typeof response.end;
    response.flushHeaders = this.flushHeaders.bind(this);
    response.writeHead = this.writeHead.bind(this) as typeof response.writeHead;
  }

  /** There is something more to wait for: what has not left is held again. */
  again(): void {
    if (this.#state === 'open') this.#state = 'free';
  }

  write(...args: unknown[]): boolean {
    if (this.#mayGo('write', args)) return this.#call('write', args) as boolean;
    this.#owesDrain = true;
    return false;
  }

  end(...args: unknown[]): ServerResponse {
    const response = this.#response;
    if (this.#mayGo('end', args)) this.#call('end', args);
    else this.#ended ??= { statusCode: response.statusCode, headers: response.getHeaders() };
    return response;
  }

  flushHeaders(): void {
    if (this.#mayGo('flushHeaders', [])) this.#call('flushHeaders', []);
  }

  /** Sends nothing by itself, but fixes the status that the outcome is judged by. */
  writeHead(...args: unknown[]): ServerResponse {
    if (this.#ended === undefined) this.#response.statusCode = args[0] as number;
    if (this.#mayGo('writeHead', args)) this.#call('writeHead', args);
    return this.#response;
  }

  released(error: unknown): void {
    const response = this.#response;
    this.#state = 'open';
    if (error !== undefined) {
      if (response.headersSent) cutOff(response);
      else refuse(response, error, this.#own.end);
      this.#state = 'refused';
      return;
    }
    if (this.#isDisturbed && !response.headersSent) restore(response, this.#ended!);
    for (const { name, args } of this.#steps.splice(0)) this.#call(name, args);
    if (!this.#owesDrain) return;
    this.#owesDrain = false;
    if (!response.writableEnded) response.emit('drain');
  }

  /* True when the call is to be made now. */
  #mayGo(name: Name, args: unknown[]): boolean {
    if (this.#state === 'open') return true;
    if (this.#state === 'refused') return false;
    if (this.#ended !== undefined) {
      // An error behind the end, say, for which the framework makes a response: headers are too late for it as well.
      this.#isDisturbed = true;
      return false;
    }
    // While it is held there is no header yet, and wrappers (compression, sessions) make one again before each step.
    if (name === 'writeHead' && this.#steps.length > 0) return false;
    this.#steps.push({ name, args });
    if (this.#state === 'free') {
      this.#state = 'held';
      this.#scope.hold(this.#response.statusCode, this);
    }
    return false;
  }

  #call(name: Name, args: unknown[]): unknown {
    return Reflect.apply(this.#own[name], this.#response, args);
  }
}

function restore(
  response: ServerResponse,
  { statusCode, headers }: { statusCode: number; headers: OutgoingHttpHeaders },
): void {
  response.statusCode = statusCode;
  for (const name of response.getHeaderNames()) if (!(name in headers)) response.removeHeader(name);
  for (const name in headers) response.setHeader(name, headers[name]!);
}

function refuse(
  response: ServerResponse,
  error: unknown,
  end: (...args: never[]) => unknown,
): void {
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  const { code, message, statusCode } =
    error instanceof DeferError
      ? error
      : new DeferError('ERR_REDLINE_DEFER_NOT_ACKNOWLEDGED', messageOf(error));
  const body = JSON.stringify({ statusCode, code, error: 'Service Unavailable', message });
  response.statusCode = statusCode;
  response.setHeader('content-type', 'application/json; charset=utf-8');
  response.setHeader('content-length', Buffer.byteLength(body));
  Reflect.apply(end, response, [body]);
}
