import {
  type OutgoingHttpHeaders,
  ServerResponse,
  type IncomingMessage,
  STATUS_CODES,
} from 'node:http';
import { constants, type ServerHttp2Stream } from 'node:http2';
import { DeferError } from '../errors.ts';
import {
  install,
  methodsThrough,
  unwrappedOf,
  wrappedOf,
  type Gate,
  type Methods,
  type Name,
} from './response-methods.ts';
import { scopes, type HeldReply, type Passage, type Scope } from './scope.ts';
import { messageOf } from '../thrown.ts';

interface Step {
  readonly name: Name;
  readonly args: unknown[];
}

/**
 * Holds the bytes of a response until its scope releases them: Express has no hook between the body and the
 * socket. Whatever the handler writes meanwhile is written afterwards, in order; a response whose jobs are not safe
 * becomes a 503, and one that has begun to leave by then is cut off.
 *
 * Installed at the start of the request, below later wrappers of the methods (compression, sessions, logs): when a
 * wrapper itself defers, it is too late to install a method in front of it.
 */
export class HeldResponse implements HeldReply, Gate {
  readonly #response: ServerResponse;
  /** Methods of earlier wrappers, which stay below. */
  readonly #wrapped: Methods | undefined;
  readonly #methods: Methods;
  /** Set after construction, before the first call. */
  scope!: Scope;
  #state: 'open' | 'guarded' | 'held' | 'refused' = 'open';
  #passage: Passage = 'ahead';
  #steps: Step[] = [];
  #owesDrain = false;
  /** Calls below that have not returned. */
  #depth = 0;
  /** True once anything but a header was passed below. Wrappers there may keep it for later. */
  #hasGone = false;
  /** Bytes of the body passed below by `write`. */
  #written = 0;
  /** Content length given to `writeHead` only, where the headers of the response do not show it. */
  #promised: number | undefined = undefined;
  #isMakingHead = false;
  /** Arguments of `writeHead` as its wrappers changed them; Node needs them later. */
  #head: unknown[] | undefined = undefined;
  /** Status and headers at the time the handler ended the response. */
  #ended: { statusCode: number; headers: OutgoingHttpHeaders } | undefined = undefined;
  #isDisturbed = false;

  constructor(response: ServerResponse) {
    this.#response = response;
    this.#wrapped = wrappedOf(response);
    this.#methods = methodsThrough(this, this.#wrapped !== undefined);
    install(response, this.#methods, this);
  }

  get passage(): Passage {
    return this.#passage === 'ahead' && this.#hasGone && this.#isWhole() ? 'ending' : this.#passage;
  }

  /* True if the client has all of it, even before `end` is called: it can no longer be held or cut off. */
  #isWhole(): boolean {
    const response = this.#response;
    const { headersSent, statusCode } = response;
    if (!headersSent) return false;
    if (statusCode === 204 || statusCode === 304 || response.req?.method === 'HEAD') return true;
    // Without a length this is NaN, and the comparison is false.
    return this.#written >= (this.#promised ?? Number(response.getHeader('content-length')));
  }

  /** True once the app has ended it, even if it is still held. */
  get isEnded(): boolean {
    return this.#ended !== undefined || this.#passage === 'behind';
  }

  /** Holds whatever has not left yet, until the scope releases it. */
  guard(): void {
    if (this.#state === 'open' && this.#passage === 'ahead') this.#state = 'guarded';
  }

  /** Removes the guard: another holder has already waited. */
  open(): void {
    if (this.#state === 'guarded') this.#state = 'open';
  }

  take(name: Name, args: unknown[]): unknown {
    const response = this.#response;
    if (this.#depth === 0) this.#look(name);
    if (this.#mayGo(name, args)) return this.#call(name, args);
    if (name === 'flushHeaders') return undefined;
    if (name !== 'write') return response;
    // Released at once: there was nothing to wait for.
    if (this.#state === 'open') return !response.writableNeedDrain;
    this.#owesDrain = true;
    return false;
  }

  released(error: unknown): void {
    const response = this.#response;
    this.#state = 'open';
    if (error !== undefined) return this.#refuse(error);
    if (this.#isDisturbed && !response.headersSent) restore(response, this.#ended!);
    while (this.#steps.length > 0) {
      const { name, args } = this.#steps.shift()!;
      this.#call(name, args);
      // A wrapper below has deferred a job.
      if (this.#state !== 'open') return this.#holdAgain();
    }
    if (!this.#owesDrain) return;
    this.#owesDrain = false;
    if (!response.writableEnded) response.emit('drain');
  }

  /*
   * Sending in the context of another request shows that work runs in the wrong context. Only the start and the end of a
   * response count: parts of a stream are often written by the requests they concern.
   */
  #look(name: Name): void {
    const { scope } = this;
    const current = scopes.getStore();
    if (current !== scope && current !== undefined && !current.isOf(this.#response)) {
      if (name === 'end' || !this.#response.headersSent) current.share();
    }
    if (this.#state === 'open' && scope.isConcerned) scope.guard();
  }

  /* Returns true if the call is to be made now. */
  #mayGo(name: Name, args: unknown[]): boolean {
    const response = this.#response;
    const isHead = name === 'writeHead';
    // Part of a call in progress: Node requests the header for a body, and wrappers below may call anything.
    if (this.#depth > 0) return true;
    // A wrapper below may have kept what was passed, and Node requests its header now.
    if (isHead && this.#hasGone && !response.headersSent) return true;
    if (isHead && this.#isMakingHead) {
      this.#head = args;
      response.statusCode = args[0] as number;
      return false;
    }
    if (this.#state === 'refused' || (this.#state !== 'open' && this.#ended !== undefined)) {
      // For example, an error after the end for which the framework makes a response: it is too late for headers as well.
      this.#isDisturbed = true;
      drop(args);
      return false;
    }
    if (!isHead) this.#makeHead();
    if (this.#state === 'open') return true;
    // A held response has no header yet, and wrappers (compression, sessions) make one again before each step.
    if (isHead && (this.#steps.length > 0 || this.#head !== undefined)) return false;
    if (this.#head !== undefined) checkCall(response, 'writeHead', this.#head);
    checkCall(response, name, args);
    this.#steps.push({ name, args });
    // Sends nothing by itself, but fixes the status that decides the outcome.
    if (isHead) response.statusCode = args[0] as number;
    if (name === 'end') {
      this.#ended = { statusCode: response.statusCode, headers: response.getHeaders() };
    }
    if (this.#state === 'guarded') this.#hold();
    return false;
  }

  /*
   * Calls the wrappers of `writeHead` now, and keeps the header they make. Node would call them within the call that needs the
   * header, too late to wait for what they defer.
   */
  #makeHead(): void {
    const response = this.#response;
    if (response.writeHead === this.#methods.writeHead || this.#isMakingHead) return;
    if (this.#head !== undefined || this.#hasGone || this.#steps.length > 0) return;
    if (response.headersSent || response.destroyed) return;
    if (!Object.hasOwn(response, 'writeHead')) {
      // A wrapper has removed itself, and this method with it.
      response.writeHead = this.#methods.writeHead as ServerResponse['writeHead'];
      return;
    }
    this.#isMakingHead = true;
    try {
      response.writeHead(response.statusCode);
    } finally {
      this.#isMakingHead = false;
    }
  }

  #hold(): void {
    this.#state = 'held';
    this.scope.hold(this.#response.statusCode, this);
  }

  #holdAgain(): void {
    if (this.#state === 'guarded' && this.#steps.length > 0) this.#hold();
  }

  #call(name: Name, args: unknown[]): unknown {
    const response = this.#response;
    const { writeHead } = response;
    const isHeadMade = this.#head !== undefined && writeHead !== this.#methods.writeHead;
    // The wrappers have already run.
    if (isHeadMade) response.writeHead = this.#methods.writeHead as typeof writeHead;
    if (name === 'end') this.#passage = 'ending';
    this.#depth++;
    try {
      const method = (this.#wrapped ?? unwrappedOf(response))[name];
      const result: unknown = Reflect.apply(
        method,
        response,
        name === 'writeHead' ? (this.#head ?? args) : args,
      );
      if (name === 'writeHead') this.#promised = lengthIn(this.#head ?? args) ?? this.#promised;
      else this.#hasGone = true;
      if (name === 'write') this.#written += lengthOf(args);
      if (name === 'end') {
        this.#passage = 'behind';
        this.scope.passed();
      }
      return result;
    } catch (error) {
      if (name === 'end') this.#passage = 'ahead';
      if (name !== 'end' || !isTooLate(error)) throw error;
      this.#refuse(error);
      return response;
    } finally {
      this.#depth--;
      if (isHeadMade && this.#state !== 'refused') response.writeHead = writeHead;
    }
  }

  #refuse(error: unknown): void {
    const response = this.#response;
    this.#state = 'refused';
    this.#passage = 'behind';
    for (const { args } of this.#steps.splice(0)) drop(args);
    if (response.headersSent || this.#hasGone) return cutOff(response);
    // Over HTTP/2, `end` calls `write`.
    install(response, this.#methods, this);
    this.#depth++;
    try {
      refuseResponse(response, error);
    } finally {
      this.#depth--;
    }
  }
}

/* Breaks the answer off: the client must not take a part for the whole. */
function cutOff(response: ServerResponse): void {
  const { stream } = response as { stream?: ServerHttp2Stream };
  if (stream?.rstCode === undefined) response.destroy();
  else stream.close(constants.NGHTTP2_INTERNAL_ERROR);
}

/* A header given only to `writeHead` is not among those of the response. */
function lengthIn(args: readonly unknown[]): number | undefined {
  const headers = args.at(-1);
  if (typeof headers !== 'object' || headers === null) return undefined;
  const flat: unknown[] = Array.isArray(headers) ? headers.flat() : Object.entries(headers).flat();
  const at = flat.findIndex(
    (name, index) => index % 2 === 0 && /^content-length$/i.test(`${name}`),
  );
  return at < 0 ? undefined : Number(flat[at + 1]);
}

function lengthOf([chunk, encoding]: readonly unknown[]): number {
  if (typeof chunk !== 'string') return (chunk as Uint8Array | undefined)?.byteLength ?? 0;
  return Buffer.byteLength(chunk, typeof encoding === 'string' ? (encoding as 'utf8') : 'utf8');
}

function isTooLate(error: unknown): boolean {
  return error instanceof DeferError && error.code === 'ERR_REDLINE_DEFER_TOO_LATE';
}

/* Like Node, calls back with an error if the response is gone. */
function drop(args: readonly unknown[]): void {
  const callback = args.find((each) => typeof each === 'function');
  if (callback === undefined) return;
  const error = new DeferError(
    'ERR_REDLINE_DEFER_NOT_ACKNOWLEDGED',
    'This part of the response was not sent.',
  );
  process.nextTick(callback as (error: Error) => void, error);
}

function restore(
  response: ServerResponse,
  { statusCode, headers }: { statusCode: number; headers: OutgoingHttpHeaders },
): void {
  response.statusCode = statusCode;
  for (const name of response.getHeaderNames()) if (!(name in headers)) response.removeHeader(name);
  for (const name in headers) response.setHeader(name, headers[name]!);
}

/**
 * Throws the error that Node would throw for this call: it is made later, where the caller could not catch it. A response
 * that is never sent does the checking, so that the errors are Node's own.
 */
export function checkCall(response: ServerResponse, name: Name, args: readonly unknown[]): void {
  // HTTP/2 responses are not of this class, and have rules of their own.
  if (!(response instanceof ServerResponse) || isPlain(response, name, args[0])) return;
  const trial = new ServerResponse({ method: 'GET' } as IncomingMessage);
  if (name === 'writeHead') Reflect.apply(trial.writeHead, trial, args);
  else trial.writeHead(response.statusCode);
  if (name === 'write' || (name === 'end' && isChunk(args[0]))) trial.write(args[0]);
}

/* Most calls cannot be invalid. */
function isPlain({ statusCode }: ServerResponse, name: Name, first: unknown): boolean {
  if (name === 'writeHead' || !(statusCode >= 100 && statusCode <= 999)) return false;
  if (typeof first === 'string' || first instanceof Uint8Array) return true;
  return name !== 'write' && !isChunk(first);
}

function isChunk(first: unknown): boolean {
  return Boolean(first) && typeof first !== 'function';
}

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
