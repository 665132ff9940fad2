import type { Server } from 'node:http';
import { NodeServer } from './node/node-http.ts';
import { replacedOfMessages } from './node/replaced-methods.ts';

/** The engine that serves a server. */
export type ServerEngine =
  | {
      readonly name: 'native';
      /** Replaced methods of `node:http` that make its messages slower. Absent if none is replaced. */
      readonly replaced?: readonly string[];
    }
  | {
      /** Node's own server, or none yet. */
      readonly name: 'node' | 'none';
      /** Reason why the native engine does not serve: one clause. */
      readonly reason: string;
    };

/** Key under which a server of this package reports its engine; every copy of the package knows it. */
export const kServedBy: unique symbol = Symbol.for('redline.http.servedBy') as never;

interface Known {
  [kServedBy]?(): ServerEngine;
  setSecureContext?: unknown;
  updateSettings?: unknown;
}

/** Marks a Node server created because of an option. */
export function servedByNode(server: Server, option: string): void {
  Object.defineProperty(server, kServedBy, { value: () => nodeHasOption(option) });
}

/** Marks a server created by a replacement of `http.createServer` that only Node can serve. */
export function replacementServes(server: Server, what: string): void {
  const reason = `http.createServer was replaced, and its server ${what}`;
  Object.defineProperty(server, kServedBy, { value: () => node(reason) });
}

/** Reports Node, because of an option that only Node supports. */
export function nodeHasOption(option: string): ServerEngine {
  return { name: 'node', reason: `only Node supports the option ${option}` };
}

/** Reports Node, because a method that only Node calls was replaced. */
export function nodeCalls(replaced: string): ServerEngine {
  return { name: 'node', reason: `${replaced} was replaced, and only Node’s own server calls it` };
}

/** Reports the native engine, and the methods that make its messages slower. */
export function engineServes(): ServerEngine {
  const replaced = replacedOfMessages();
  return replaced.length === 0 ? { name: 'native' } : { name: 'native', replaced };
}

/** Reports the engine of any server in this process, as far as the server shows it. */
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
