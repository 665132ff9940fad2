import { EventEmitter } from 'node:events';
import { Stream } from 'node:stream';
import { http } from './node-http.ts';
import { isNodes } from './node-sources.ts';
import type { EmitterInternals } from './node-internals.ts';

// Agents and application firewalls replace methods of node:http's prototypes, and of the prototypes below them. A message on
// the fast path calls few of these methods, so the path is taken only while they are Node's own. Each check compares an
// inherited property of a constant object with a constant: V8 compiles it to nothing, and discards the code when one of them
// is replaced. (17 comparisons: 0.35 ns, including the loop.)

export type Methods = Record<string, unknown>;

const response = http.ServerResponse.prototype as never as Methods;
const request = http.IncomingMessage.prototype as never as Methods;
const outgoing = http.OutgoingMessage.prototype as never as Methods;
const stream = Stream.prototype as never as Methods;

/** Unequal to every method: represents one that was replaced before this package was loaded. */
const REPLACED: unknown = Symbol('replaced');

/** Returns Node's own method, or the unequal symbol if it was replaced. */
export function original(prototype: Methods, name: string): unknown {
  const method = prototype[name];
  return isNodes(method) ? method : REPLACED;
}

/** Node's own `emit`, which all messages, sockets and servers inherit. */
export const nodeEmit: unknown = original(EventEmitter.prototype as never, 'emit');

/** Returns true if there are listeners, or `emit` was replaced on the message or any of its prototypes. */
export function mayHaveListeners(emitter: EmitterInternals & { emit: unknown }): boolean {
  return emitter._events !== undefined || emitter.emit !== nodeEmit;
}

/** Returns true if `emit` was replaced, so that other code sees every event. */
export function isEmitReplaced(emitter: { emit: unknown }): boolean {
  return emitter.emit !== nodeEmit;
}

const responseEnd = original(response, 'end');
const responseWrite = original(response, 'write');
const responseFlushHeaders = original(response, 'flushHeaders');

export function isEndReplaced(): boolean {
  return response['end'] !== responseEnd;
}

export function isWriteReplaced(): boolean {
  return response['write'] !== responseWrite;
}

export function isFlushHeadersReplaced(): boolean {
  return response['flushHeaders'] !== responseFlushHeaders;
}

const setHeader = original(response, 'setHeader');
const getHeader = original(response, 'getHeader');
const hasHeader = original(response, 'hasHeader');
const removeHeader = original(response, 'removeHeader');

export function isSetHeaderReplaced(): boolean {
  return response['setHeader'] !== setHeader;
}

export function isGetHeaderReplaced(): boolean {
  return response['getHeader'] !== getHeader;
}

export function isHasHeaderReplaced(): boolean {
  return response['hasHeader'] !== hasHeader;
}

export function isRemoveHeaderReplaced(): boolean {
  return response['removeHeader'] !== removeHeader;
}

const assignSocket = original(response, 'assignSocket');
const detachSocket = original(response, 'detachSocket');
const flush = original(response, '_flush');
const flushOutput = original(response, '_flushOutput');
const send = original(response, '_send');
const writeRaw = original(response, '_writeRaw');
const storeHeader = original(response, '_storeHeader');
const isLenient = original(response, '_isLenientHeaderValidation');
const finish = original(response, '_finish');
const finishOutgoing = original(outgoing, '_finish');
const cork = original(response, 'cork');
const uncork = original(response, 'uncork');
const responseOn = original(response, 'on');

/** Node calls it for each header that is set. */
export function isLenientReplaced(): boolean {
  return response['_isLenientHeaderValidation'] !== isLenient;
}

/** Returns true if a method is replaced that Node calls on each response and the fast path does not. */
export function areResponsesReplaced(): boolean {
  return (
    response['assignSocket'] !== assignSocket ||
    response['detachSocket'] !== detachSocket ||
    response['_flush'] !== flush ||
    response['_flushOutput'] !== flushOutput ||
    response['_send'] !== send ||
    response['_writeRaw'] !== writeRaw ||
    response['_storeHeader'] !== storeHeader ||
    response['_isLenientHeaderValidation'] !== isLenient ||
    response['_finish'] !== finish ||
    outgoing['_finish'] !== finishOutgoing ||
    response['cork'] !== cork ||
    response['uncork'] !== uncork ||
    response['on'] !== responseOn
  );
}

const push = original(request, 'push');
const read = original(request, 'read');
const readMore = original(request, '_read');
const resume = original(request, 'resume');
const dump = original(request, '_dump');
const addHeaderLine = original(request, '_addHeaderLine');
const addHeaderLines = original(request, '_addHeaderLines');
const destroy = original(request, 'destroy');
const destroyNow = original(request, '_destroy');
const requestOn = original(request, 'on');
const listenerCount = original(request, 'listenerCount');
const removeAllListeners = original(request, 'removeAllListeners');
// Called by Readable's own methods.
const streamOn = original(stream, 'on');
const streamRemoveAllListeners = original(stream, 'removeAllListeners');

/** Returns true if a method is replaced that Node calls on each request and the fast path does not. */
export function areRequestsReplaced(): boolean {
  return (
    request['push'] !== push ||
    request['read'] !== read ||
    request['_read'] !== readMore ||
    request['resume'] !== resume ||
    request['_dump'] !== dump ||
    request['_addHeaderLine'] !== addHeaderLine ||
    request['_addHeaderLines'] !== addHeaderLines ||
    request['destroy'] !== destroy ||
    request['_destroy'] !== destroyNow ||
    request['on'] !== requestOn ||
    request['listenerCount'] !== listenerCount ||
    request['removeAllListeners'] !== removeAllListeners ||
    stream['on'] !== streamOn ||
    stream['removeAllListeners'] !== streamRemoveAllListeners
  );
}

/** Node's server calls it on each request. */
export function isOnReplaced(message: { on: unknown }): boolean {
  return message.on !== requestOn;
}

/** Makes every request a stream from the start if `emit` is replaced, since other code sees the events of streams. */
export function isRequestEmitReplaced(): boolean {
  return request['emit'] !== nodeEmit;
}

/** Names the replaced methods that keep messages off the fast path, or make them emit more. */
export function replacedOfMessages(): string[] {
  return [
    ...named('http.ServerResponse', response, OF_RESPONSES),
    ...named('http.IncomingMessage', request, OF_REQUESTS),
  ];
}

const OF_RESPONSES = [
  'emit',
  'end',
  'write',
  'flushHeaders',
  'assignSocket',
  'detachSocket',
  '_flush',
  '_flushOutput',
  '_send',
  '_writeRaw',
  '_storeHeader',
  '_isLenientHeaderValidation',
  '_finish',
  'cork',
  'uncork',
  'on',
];
const OF_REQUESTS = [
  'emit',
  'push',
  'read',
  '_read',
  'resume',
  '_dump',
  '_addHeaderLine',
  '_addHeaderLines',
  'destroy',
  '_destroy',
  'on',
  'listenerCount',
  'removeAllListeners',
];

function named(owner: string, prototype: Methods, names: readonly string[]): string[] {
  return names
    .filter((name) => !isNodes(prototype[name]))
    .map((name) => `${owner}.prototype.${name}`);
}
