import type { Server } from 'node:http';
import { NodeServer } from './node/node-http.ts';
import { replacedOfMessages } from './node/replaced-methods.ts';

/** What serves a server. */
export type ServerEngine =
  | {
      readonly name: 'native';
      /** Methods of `node:http` that somebody has replaced, and that make its messages slower. Absent if there are none. */
      readonly replaced?: readonly string[];
    }
  | {
      /** Node's own server, or nothing yet. */
      readonly name: 'node' | 'none';
      /** Why the native engine does not serve: one clause. */
      readonly reason: string;
    };

/** By this a server of this package reports its engine. Every copy of the package knows it. */
export const kServedBy: unique symbol = Symbol.for('redline.http.servedBy') as never;

interface Known {
  [kServedBy]?(): ServerEngine;
  setSecureContext?: unknown;
  updateSettings?: unknown;
}

/** Marks a server of Node's own that was made because of an option. */
export function servedByNode(server: Server, option: string): void {
  Object.defineProperty(server, kServedBy, { value: () => nodeHasOption(option) });
}

/** Marks a server that a replacement of `http.createServer` has made, and only Node can serve. */
export function replacementServes(server: Server, what: string): void {
  const reason = `http.createServer was replaced, and its server ${what}`;
  Object.defineProperty(server, kServedBy, { value: () => node(reason) });
}

/** What serves a server that wants an option of Node's. */
export function nodeHasOption(option: string): ServerEngine {
  return { name: 'node', reason: `only Node supports the option ${option}` };
}

/** What serves a server whose connections only Node can serve, as somebody has replaced a method. */
export function nodeCalls(replaced: string): ServerEngine {
  return { name: 'node', reason: `${replaced} was replaced, and only Node’s own server calls it` };
}

/** The engine, and what makes its messages slower. */
export function engineServes(): ServerEngine {
  const replaced = replacedOfMessages();
  return replaced.length === 0 ? { name: 'native' } : { name: 'native', replaced };
}

/** What serves any server of this process, as far as it can be seen from the server. */
export function servedBy(server: object): ServerEngine {
  const known = server as Known;
  if (typeof known.updateSettings === 'function') return node('HTTP/2 is Node’s own');
  if (typeof known.setSecureContext === 'function') return node('TLS is Node’s own');
  if (known[kServedBy] !== undefined) return known[kServedBy]();
  if (server instanceof NodeServer) return node('it was created by node:http');
  return node('it is not an HTTP server');
}

function node(reason: string): ServerEngine {
  return { name: 'node', reason };
}
