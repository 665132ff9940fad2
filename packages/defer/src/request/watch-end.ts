import type { ServerResponse } from 'node:http';
import { constants, type ServerHttp2Stream } from 'node:http2';
import type { Scope } from './scope.ts';

/** Tells the scope how its response ended. */
export function watchEnd(response: ServerResponse, scope: Scope): void {
  const end = (): void => scope.end(response.statusCode, isComplete(response));
  if (response.writableFinished || response.destroyed) return end();
  // Comes behind 'finish', and is the one event there is when the client goes away.
  response.on('close', end);
}

/** The status of a response that was written as a whole. */
export function repliedWith(response: ServerResponse): number | undefined {
  return response.writableEnded ? response.statusCode : undefined;
}

/** The client must not take what it has for the whole. */
export function cutOff(response: ServerResponse): void {
  const { stream } = response as { stream?: ServerHttp2Stream };
  if (stream?.rstCode === undefined) response.destroy();
  else stream.close(constants.NGHTTP2_INTERNAL_ERROR);
}

/* Over HTTP/2 a response counts as finished when its stream is gone, whoever ended it. */
function isComplete(response: ServerResponse): boolean {
  const { stream } = response as { stream?: ServerHttp2Stream };
  if (stream?.rstCode === undefined) return response.writableFinished;
  return response.writableEnded && stream.rstCode === 0 && !stream.aborted;
}
