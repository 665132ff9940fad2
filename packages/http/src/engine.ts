import type { Server } from 'node:net';
import { getSystemErrorName } from 'node:util';
import { missingInternal } from './node/node-internals.ts';
import { servedBy, type ServerEngine } from './served-by.ts';
import { openPort, startErrno } from './native/index.ts';

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
