import type { ServerResponse } from 'node:http';
import { constants, type ServerHttp2Stream } from 'node:http2';
import type { Scope } from './scope.ts';

/** Reports to the scope how its response ended. */
export function watchEnd(response: ServerResponse, scope: Scope): void {
  const end = (): void => scope.end(response.statusCode, isComplete(response));
  if (response.writableFinished || response.destroyed) return end();
  // Emitted after 'finish', and the only event if the client goes away.
  response.on('close', end);
}

/** Returns the status of a response that was written as a whole. */
export function repliedWith(response: ServerResponse): number | undefined {
  return response.writableEnded ? response.statusCode : undefined;
}

/** Cuts the response off, so that the client does not take a part for the whole. */
export function cutOff(response: ServerResponse): void {
  const { stream } = response as { stream?: ServerHttp2Stream };
  if (stream?.rstCode === undefined) response.destroy();
  else stream.close(constants.NGHTTP2_INTERNAL_ERROR);
}

/* Over HTTP/2 a response counts as finished when its stream is gone, whichever side ended it. */
function isComplete(response: ServerResponse): boolean {
  const { stream } = response as { stream?: ServerHttp2Stream };
  if (stream?.rstCode === undefined) return response.writableFinished;
  return response.writableEnded && stream.rstCode === 0 && !stream.aborted;
}
