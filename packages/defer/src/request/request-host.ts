import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import { HeldResponse } from './hold-response.ts';
import { ownEvents, ownEventsOfResponse } from './owner.ts';
import {
  Scope,
  type Passage,
  type RequestFacts,
  type ScopeDeferrer,
  type ScopeHost,
} from './scope.ts';

/** A request of a server of Node, below every framework: its response can be held, and its events run in its scope. */
export abstract class RequestHost implements ScopeHost {
  readonly scope: Scope;
  readonly held: HeldResponse;
  readonly subject: ServerResponse;

  constructor(deferrer: ScopeDeferrer, request: IncomingMessage, response: ServerResponse) {
    this.subject = response;
    this.held = new HeldResponse(response);
    this.scope = new Scope(deferrer, this);
    this.held.scope = this.scope;
    ownEvents(request, this.scope);
    ownEventsOfResponse(response, this.scope);
  }

  abstract facts(): RequestFacts;

  get isAnswered(): boolean {
    return this.held.isEnded;
  }

  get isGone(): boolean {
    return this.subject.destroyed;
  }

  get passage(): Passage {
    return this.held.passage;
  }

  watch(scope: Scope): void {
    const response = this.subject;
    const end = (): void => scope.end(response.statusCode, isComplete(response));
    if (response.writableFinished || response.destroyed) return end();
    // Emitted after 'finish', and the only event if the client goes away.
    response.on('close', end);
  }

  repliedWith(): number | undefined {
    return this.subject.writableEnded ? this.subject.statusCode : undefined;
  }

  guard(): void {
    this.held.guard();
  }
}

/** Returns the facts of a request that a job carries: its id, and its trace in the format of W3C Trace Context. */
export function factsOf(
  { traceparent, tracestate }: IncomingHttpHeaders,
  requestId: string | undefined,
): RequestFacts {
  return { traceparent: single(traceparent), tracestate: single(tracestate), requestId };
}

function single(value: string | string[] | undefined): string | undefined {
  return typeof value === 'object' ? value[0] : value;
}

/* Over HTTP/2 a response counts as finished when its stream is gone, whichever side ended it. */
function isComplete(response: ServerResponse): boolean {
  const { stream } = response as { stream?: ServerHttp2Stream };
  if (stream?.rstCode === undefined) return response.writableFinished;
  return response.writableEnded && stream.rstCode === 0 && !stream.aborted;
}

/* Shared with `@redline/response-cache`. */
const passesAll: unique symbol = Symbol.for('redline.passes-all') as never;

/** Marks a hook that decides nothing about a response: a cached one, which defers nothing, may be sent ahead of it. */
export function passingAll<Hook extends object>(hook: Hook): Hook {
  return Object.assign(hook, { [passesAll]: true as const });
}
