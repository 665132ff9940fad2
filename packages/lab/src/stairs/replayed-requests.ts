import { basename, resolve } from 'node:path';
import { readReplayList } from '../access-log/replay-list.ts';
import { RoutePatterns } from '../access-log/route-pattern.ts';
import type { RequestConfig } from '../config/types.ts';
import { LabError } from '../errors.ts';
import { fixed, plural } from '../report/format.ts';

type Request = Required<RequestConfig>;

/** The requests of an access log, as what is taken apart. */
export interface ReplayedRequests {
  /** In the order of the log. */
  load: Request[];
  /** One of each route, the most frequent first; stages are what all of these have in common. */
  traced: Request[];
  /** For the report. */
  label: string;
  /** One sentence each. */
  warnings: string[];
}

/** Routes are traced until they make up this share of the requests; a stage that fewer reach is none. */
const tracedShare = 0.9;
const mostTraced = 20;

/**
 * @param route Only the requests of this one, as `redline top` writes it.
 * @throws {LabError} ERR_REDLINE_ACCESS_LOG, ERR_REDLINE_OPTION
 */
export async function readReplayed(
  file: string,
  route: string | undefined,
  signal: AbortSignal,
): Promise<ReplayedRequests> {
  const { requests, warnings } = await readReplayList(resolve(file), signal);
  const pattern = route?.replace(/^[A-Z]+ /, '');
  const patterns = new RoutePatterns(pattern === undefined ? [] : [pattern]);
  const routes = Map.groupBy(requests, ({ path }) => patterns.routeOf(path));
  const name = basename(file);
  if (pattern !== undefined) {
    const load = routes.get(pattern);
    if (load === undefined) throw unknownRoute(name, pattern, [...routes.keys()]);
    const label = `${fixed(load.length)} requests of ${pattern} in ${name}`;
    return { load, traced: differing(load), label, warnings };
  }
  const ordered = [...routes].toSorted(([, a], [, b]) => b.length - a.length);
  const traced: Request[] = [];
  let covered = 0;
  for (const [, own] of ordered) {
    if (traced.length === mostTraced || covered >= tracedShare * requests.length) break;
    traced.push(own[0]!);
    covered += own.length;
  }
  return {
    load: requests,
    traced,
    label: `${fixed(requests.length)} requests of ${name}`,
    warnings: [
      ...warnings,
      ...(ordered.length === 1
        ? []
        : [
            `The stages are what ${plural(traced.length, 'route')} of ${name} have in common, and the last of them includes the work specific to each route; --route ${ordered[0]![0]} measures one alone.`,
          ]),
    ],
  };
}

/** A route's requests may go different ways: the first, the last and the one between. */
function differing(load: readonly Request[]): Request[] {
  const chosen = [0, Math.floor(load.length / 2), load.length - 1].map((index) => load[index]!);
  return [...new Map(chosen.map((request) => [request.path, request])).values()];
}

function unknownRoute(name: string, route: string, routes: readonly string[]): LabError {
  const some = routes.slice(0, 8).join(', ');
  const more = routes.length > 8 ? ` and ${routes.length - 8} more` : '';
  return new LabError(
    'ERR_REDLINE_OPTION',
    `No request in ${name} matches --route ${route}; its routes are ${some}${more}.`,
  );
}
