import { basename } from 'node:path';
import { readAccessLog } from '../access-log/read-access-log.ts';
import { RoutePatterns } from '../access-log/route-pattern.ts';
import { RouteCosts } from '../access-log/top.ts';
import { LabError } from '../errors.ts';
import { percent } from '../report/format.ts';

/**
 * Finds the GET route of a log that takes the most time in total, or the most frequent one if the log has no durations.
 * @throws {LabError} ERR_REDLINE_ACCESS_LOG
 */
export async function busiestRoute(
  log: string,
  signal: AbortSignal,
): Promise<{ route: string; why: string }> {
  const costs = new RouteCosts(new RoutePatterns());
  await readAccessLog([log], (request) => costs.add(request), signal);
  const { routes, hasDurations } = costs.summarise();
  const busiest = routes.find(
    ({ method, requests, serverErrors }) => method === 'GET' && serverErrors < requests,
  );
  if (busiest === undefined) {
    throw new LabError('ERR_REDLINE_ACCESS_LOG', `${log} has no GET request that succeeded.`);
  }
  const share = `${percent(busiest.share)} of its ${hasDurations ? 'time' : 'requests'}`;
  return {
    route: busiest.route,
    why: `The busiest GET route of ${basename(log)}, with ${share}.`,
  };
}
