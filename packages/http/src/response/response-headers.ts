import type { EngineResponse } from '../exchange.ts';
import { defineHidden } from '../node/message-defaults.ts';
import { kConnection, kIsNodes } from '../node/message-state.ts';
import { kOutHeaders } from '../node/node-internals.ts';
import {
  isGetHeaderReplaced,
  isHasHeaderReplaced,
  isLenientReplaced,
  isRemoveHeaderReplaced,
  isSetHeaderReplaced,
} from '../node/replaced-methods.ts';
import {
  CONNECTION,
  CONTENT_LENGTH,
  DATE,
  KEPT_VALUE,
  NOT_PLAIN_ASCII,
  TRANSFER_ENCODING,
  tokenOf,
} from './header-names.ts';
import { nodeMethod, nodeResponse } from './node-methods.ts';

// Node's methods check a name, lower-case it and have V8 look that up among its strings, every time. Here the same is done
// with names seen before; unusual cases go to Node's methods.

type Headers = Record<string, [string, unknown]>;

/** The engine serves strict servers only; for messages that Node serves, Node decides. */
function isLenient(this: EngineResponse): boolean {
  const isNodes = this[kConnection] === undefined || this[kIsNodes];
  return isNodes && nodeResponse._isLenientHeaderValidation?.call(this);
}

/**
 * Inherits nothing, like Node's object without a prototype. V8 keeps Node's as a hash table from the start; with this one,
 * four headers are set and listed in half the time.
 */
const OutHeaders = function OutHeaders() {} as never as new () => Headers;
Object.defineProperty(OutHeaders, 'prototype', { value: Object.setPrototypeOf({}, null) });

/** True unless user code has replaced the check for headers that only lenient servers send. */
export function isStrict(response: EngineResponse): boolean {
  return response._isLenientHeaderValidation === isLenient;
}

function setHeader(this: EngineResponse, name: string, value: unknown): EngineResponse {
  const header = isSetShort(this) ? tokenOf(name) : undefined;
  if (header === undefined) return callNode(this, 'setHeader', arguments);
  if (value !== header.value && typeof value !== 'number') {
    if (typeof value !== 'string' || NOT_PLAIN_ASCII.test(value)) {
      return callNode(this, 'setHeader', arguments);
    }
    // Prepares the line for the head rendered later.
    if (value.length <= KEPT_VALUE) {
      header.value = value;
      header.line = `${name}: ${value}\r\n`;
    }
  }
  const headers = (this[kOutHeaders] ??= new OutHeaders());
  headers[header.lower] = [name, value];
  return this;
}

function isSetShort(response: EngineResponse): boolean {
  return (
    !isSetHeaderReplaced() &&
    !isLenientReplaced() &&
    !response._header &&
    response[kConnection] !== undefined &&
    !response[kIsNodes] &&
    isStrict(response)
  );
}

function getHeader(this: EngineResponse, name: string): unknown {
  const headers = this[kOutHeaders];
  const header = headers && !isGetHeaderReplaced() ? tokenOf(name) : undefined;
  if (header === undefined) return callNode(this, 'getHeader', arguments);
  return headers![header.lower]?.[1];
}

function hasHeader(this: EngineResponse, name: string): boolean {
  const headers = this[kOutHeaders];
  const header = headers && !isHasHeaderReplaced() ? tokenOf(name) : undefined;
  if (header === undefined) return callNode(this, 'hasHeader', arguments);
  return headers![header.lower] !== undefined;
}

function removeHeader(this: EngineResponse, name: string): void {
  const headers = this[kOutHeaders];
  const isShort = headers && !this._header && !isRemoveHeaderReplaced();
  const header = isShort ? tokenOf(name) : undefined;
  // Node records the removal of these headers.
  const isNoted =
    header === undefined ||
    header.kind === CONNECTION ||
    header.kind === CONTENT_LENGTH ||
    header.kind === TRANSFER_ENCODING ||
    header.kind === DATE;
  if (isNoted) callNode(this, 'removeHeader', arguments);
  // `delete` turns the object into a hash table.
  else if (headers![header.lower] !== undefined) delete headers![header.lower];
}

type Methods = Record<
  'setHeader' | 'getHeader' | 'hasHeader' | 'removeHeader' | '_isLenientHeaderValidation',
  unknown
>;

function callNode(response: EngineResponse, name: keyof Methods, given: IArguments): never {
  return nodeMethod(response, name).apply(response, given as never);
}

export function defineHeaderMethods(prototype: object): void {
  const methods = { setHeader, getHeader, hasHeader, removeHeader };
  for (const [name, method] of Object.entries(methods)) defineHidden(prototype, name, method);
  defineHidden(prototype, '_isLenientHeaderValidation', isLenient);
}
