import { basename, resolve } from 'node:path';
import { readReplayList } from '../access-log/replay-list.ts';
import { RoutePatterns } from '../access-log/route-pattern.ts';
import type { RequestConfig } from '../config/types.ts';
import { plural } from '../report/format.ts';

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
  const { requests, label, warnings } = await readReplayList(resolve(file), signal, { route });
  if (route !== undefined) return { load: requests, traced: differing(requests), label, warnings };
  const patterns = new RoutePatterns();
  const routes = Map.groupBy(requests, ({ path }) => patterns.routeOf(path));
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
    label,
    warnings: [
      ...warnings,
      ...(ordered.length === 1
        ? []
        : [
            `The stages are what ${plural(traced.length, 'route')} of ${basename(file)} have in common, and the last of them includes the work specific to each route; --route ${ordered[0]![0]} measures one alone.`,
          ]),
    ],
  };
}

/** A route's requests may go different ways: the first, the last and the one between. */
function differing(load: readonly Request[]): Request[] {
  const chosen = [0, Math.floor(load.length / 2), load.length - 1].map((index) => load[index]!);
  return [...new Map(chosen.map((request) => [request.path, request])).values()];
}
