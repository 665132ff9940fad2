import { type EngineLines, engineLines } from '@redline/http/pino';

import type { LoggerCore } from '../logger-core.ts';
import { CUSTOM_LINES } from './line-shape.ts';
import type { ResolvedOptions } from '../options.ts';

/** Returns the settings for lines that the engine writes for its own responses, or the reason why it cannot write them. */
export function engineLinesOf({ options, pino, destination }: LoggerCore): EngineLines {
  const obstacle = obstacleOf(options);
  if (obstacle !== undefined) return { obstacle, writing: undefined };
  const { requests, share, shape, requestId } = options;
  return engineLines(pino, {
    requests: requests === 'sample' ? { sample: share } : requests,
    requestIdHeader: requestId.header ?? false,
    reqIdKey: shape.keys.reqId,
    responseTimeKey: shape.keys.responseTime,
    leaveErrors: ownShapeOf(options) !== undefined,
    sink: destination.lines,
  });
}

function obstacleOf(options: ResolvedOptions): string | undefined {
  const { requests, share, requestId, custom } = options;
  if (requestId.echo !== undefined) return 'requestId.echo gives each response a header of its own';
  if (requests === 'off') return undefined;
  if ((custom.customReceivedMessage ?? custom.customReceivedObject) !== undefined) {
    return 'LoggerModule also writes a line when a request arrives';
  }
  // Without lines for successful responses, only those of errors are left to JavaScript.
  return share === 0 ? undefined : ownShapeOf(options);
}

/** Names the part of a line that only JavaScript knows. */
function ownShapeOf({
  shape,
  ignore,
  routes,
  requestId,
  custom,
}: ResolvedOptions): string | undefined {
  if (ignore !== undefined) return 'LoggerModule asks "ignore" about each request';
  if (routes.exclude !== undefined) return 'LoggerModule leaves routes out ("exclude")';
  if (routes.forRoutes !== undefined) return 'LoggerModule chooses routes ("forRoutes")';
  if (requestId.generate !== undefined || requestId.make !== undefined || requestId.isFastifys) {
    return 'request ids are made by a function of the app';
  }
  const asked = CUSTOM_LINES.find((name) => custom[name] !== undefined);
  if (asked !== undefined) return `LoggerModule asks "${asked}" about each line`;
  if (shape.fields !== 'slim' || shape.replace !== undefined) {
    return 'LoggerModule writes other fields than the slim ones ("fields" or "customProps")';
  }
  return undefined;
}
