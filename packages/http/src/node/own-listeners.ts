import { EventEmitter } from 'node:events';
import type { EmitterInternals } from './node-internals.ts';

// What the engine does with listeners where Node's server does nothing of the kind: no wrapper of a message's methods sees it.

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
