// Replaces methods, and notes each call: whose, which, with what.
import http from 'node:http';
import net from 'node:net';
import stream from 'node:stream';
import { EventEmitter } from 'node:events';

export const owners = {
  'http.ServerResponse': () => http.ServerResponse,
  'http.OutgoingMessage': () => http.OutgoingMessage,
  'http.IncomingMessage': () => http.IncomingMessage,
  'http.Server': () => http.Server,
  'net.Server': () => net.Server,
  'net.Socket': () => net.Socket,
  'stream.Readable': () => stream.Readable,
  'stream.Writable': () => stream.Writable,
  'stream.Duplex': () => stream.Duplex,
  'stream.Stream': () => stream.Stream,
  'events.EventEmitter': () => EventEmitter,
} as Record<string, () => { prototype: object }>;

export type How = 'assign' | 'define';
type Method = (this: unknown, ...args: unknown[]) => unknown;

const { Server } = http;
const { IncomingMessage, OutgoingMessage } = http;

export const log: string[] = [];
let serving: object | undefined;

/** From here on calls of this server and what belongs to it are noted. */
export function note(server: object | undefined): void {
  serving = server;
}

export function wrap(target: object, name: string, how: How, label: string): () => void {
  const before = Object.getOwnPropertyDescriptor(target, name);
  const method = (target as Record<string, unknown>)[name] as Method;
  if (typeof method !== 'function') return () => {};
  const wrapper = function (this: unknown, ...args: unknown[]): unknown {
    const whose = subject(this);
    if (whose !== undefined) {
      log.push(`${label}.${name} of ${whose}: ${args.map(shown).join(', ')}`);
    }
    return method.apply(this, args);
  };
  if (how === 'assign') {
    (target as Record<string, unknown>)[name] = wrapper;
  } else {
    Object.defineProperty(target, name, { value: wrapper, configurable: true, writable: true });
  }
  return () => {
    if (before === undefined) delete (target as Record<string, unknown>)[name];
    else Object.defineProperty(target, name, before);
  };
}

function subject(value: unknown): string | undefined {
  if (serving === undefined) return undefined;
  if (value === serving) return 'server';
  if (value instanceof IncomingMessage) return ofServer(value.socket) ? 'request' : undefined;
  if (value instanceof OutgoingMessage) return 'statusCode' in value ? 'response' : undefined;
  if (value instanceof net.Socket) return ofServer(value) ? 'socket' : undefined;
  return undefined;
}

function ofServer(socket: unknown): boolean {
  return (socket as { server?: unknown } | undefined)?.server === serving;
}

function shown(value: unknown): string {
  switch (typeof value) {
    case 'function':
      return 'a function';
    case 'string': {
      const text = value.replaceAll(/Date: [^\r]*/g, 'Date');
      return text.length > 300 ? `${text.length} characters` : JSON.stringify(text);
    }
    case 'object':
      return object(value);
    default:
      return String(value);
  }
}

function object(value: object | null): string {
  if (value === null) return 'null';
  if (value instanceof net.Socket) return 'a socket';
  if (value instanceof IncomingMessage) return 'a request';
  if (value instanceof OutgoingMessage) return 'a response';
  if (value instanceof Server) return 'a server';
  if (value instanceof Error) return `${(value as NodeJS.ErrnoException).code} ${value.message}`;
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  if (Array.isArray(value)) return `[${value.map(shown).join(', ')}]`;
  if (value instanceof stream.Stream) return 'a stream';
  return `{${Object.entries(value)
    .map(([key, one]) => `${key}: ${shown(one)}`)
    .join(', ')}}`;
}
