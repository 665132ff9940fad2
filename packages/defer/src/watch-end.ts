import type { ServerResponse } from 'node:http';
import type { Scope } from './scope.ts';

/** Tells the scope how its reply ended. */
export function watchEnd(response: ServerResponse, scope: Scope): void {
  const end = (): void => scope.end(response.statusCode, response.writableFinished);
  if (response.writableFinished || response.destroyed) return end();
  // Comes behind 'finish', and is the one event there is when the client goes away.
  response.on('close', end);
}
