import { ServerResponse, type IncomingMessage } from 'node:http';
import type { Name } from './response-methods.ts';

/**
 * Throws the error that Node would throw for this call: it is made later, where the caller could not catch it. A response
 * that is never sent does the checking, so that the errors are Node's own.
 */
export function checkCall(response: ServerResponse, name: Name, args: readonly unknown[]): void {
  // HTTP/2 responses are not of this class, and have rules of their own.
  if (!(response instanceof ServerResponse) || isPlain(response, name, args[0])) return;
  const trial = new ServerResponse({ method: 'GET' } as IncomingMessage);
  if (name === 'writeHead') Reflect.apply(trial.writeHead, trial, args);
  else trial.writeHead(response.statusCode);
  if (name === 'write' || (name === 'end' && isChunk(args[0]))) trial.write(args[0]);
}

/* Most calls cannot be invalid. */
function isPlain({ statusCode }: ServerResponse, name: Name, first: unknown): boolean {
  if (name === 'writeHead' || !(statusCode >= 100 && statusCode <= 999)) return false;
  if (typeof first === 'string' || first instanceof Uint8Array) return true;
  return name !== 'write' && !isChunk(first);
}

function isChunk(first: unknown): boolean {
  return Boolean(first) && typeof first !== 'function';
}
