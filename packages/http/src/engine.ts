import type { Server } from 'node:net';
import { getSystemErrorName } from 'node:util';
import { missingInternal } from './node/node-internals.ts';
import { openPort, startErrno } from './native/index.ts';
import { NodeServer } from './node/node-http.ts';
import { replacedOfMessages } from './node/replaced-methods.ts';

/** The implementation in use. */
export type Engine =
  | { readonly name: 'native' }
  | {
      readonly name: 'node';
      /** Reason why the native engine is not used: one clause. */ readonly reason: string;
    };

let found: Engine | undefined;

/**
 * Reports which engine serves the servers of this thread: this package's, or `node:http` and why. With a server,
 * reports what serves that one: its options, TLS or HTTP/2 may leave it to Node, and `none` means that it does not listen.
 *
 * @example engine(); // { name: 'node', reason: 'the native engine is for Linux' } engine(server); // { name: 'node',
 * reason: 'TLS is Node’s own' }
 */
export function engine(): Engine;
export function engine(server: Server): ServerEngine;
export function engine(server?: Server): ServerEngine {
  found ??= find();
  if (server === undefined) return found;
  const serving = servedBy(server);
  // A reason that applies to every server takes precedence.
  return serving.name === 'native' || found.name === 'native' ? serving : found;
}

function find(): Engine {
  const reason = obstacle();
  return reason === undefined ? { name: 'native' } : { name: 'node', reason };
}

function obstacle(): string | undefined {
  const { env, execArgv, platform, versions } = process;
  if (env['REDLINE_HTTP'] === 'node') return 'REDLINE_HTTP=node is set';
  if (versions['bun'] !== undefined) return 'Bun serves HTTP itself';
  if (versions['deno'] !== undefined) return 'Deno serves HTTP itself';
  if (platform !== 'linux') return 'the native engine is for Linux';
  if (
    execArgv.includes('--insecure-http-parser') ||
    env['NODE_OPTIONS']?.includes('--insecure-http-parser')
  ) {
    return '--insecure-http-parser asks for a lenient parser';
  }
  const missing = missingInternal();
  if (missing !== undefined) return `this Node has no ${missing} where it is expected`;
  try {
    openPort();
  } catch (error) {
    const errno = startErrno(error);
    if (errno !== undefined) return `the engine cannot start: ${getSystemErrorName(-errno)}`;
    return (error as Error).message.split('\n', 1)[0];
  }
  return undefined;
}

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

/** Options that only Node's own server implements. */
const NODE_ONLY = ['insecureHTTPParser', 'httpValidation', 'blockList', 'pauseOnConnect'] as const;

/** Returns the first Node-only option in use, if any. */
export function nodeOnlyOption(options: unknown): string | undefined {
  if (options === null || typeof options !== 'object') return undefined;
  const given = options as Record<string, unknown>;
  return NODE_ONLY.find((name) => Boolean(given[name]) && given[name] !== 'strict');
}
