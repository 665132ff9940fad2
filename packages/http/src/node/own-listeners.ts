import { EventEmitter } from 'node:events';
import type { EmitterInternals } from './node-internals.ts';

// Listener access of the engine without a counterpart in Node's server: it bypasses wrapped methods of messages.

type Listener = (...args: never[]) => void;
type Emitter = object & EmitterInternals;

const { prependListener } = EventEmitter.prototype;

export function countListeners(emitter: Emitter, event: string): number {
  const listeners = emitter._events?.[event];
  if (Array.isArray(listeners)) return listeners.length;
  return listeners === undefined ? 0 : 1;
}

export function hasListener(emitter: Emitter, event: string): boolean {
  return countListeners(emitter, event) > 0;
}

export function addFirstListener(emitter: Emitter, event: string, listener: Listener): void {
  prependListener.call(emitter as never, event, listener as never);
}
