import { basename, resolve } from 'node:path';
import { readReplayList } from '../access-log/replay-list.ts';
import { RoutePatterns } from '../access-log/route-pattern.ts';
import type { RequestConfig } from '../config/types.ts';
import { plural } from '../report/format.ts';

type Request = Required<RequestConfig>;

/** The requests of an access log to take apart. */
export interface ReplayedRequests {
  /** In the order of the log. */
  load: Request[];
  /** One per route, the most frequent first; stages are common to all of these. */
  traced: Request[];
  /** For the report. */
  label: string;
  /** Warnings, one sentence each. */
  warnings: string[];
}

/** Routes are traced until they make up this share of the requests; a function that fewer requests reach is not a stage. */
const tracedShare = 0.9;
const maxTraced = 20;

/**
 * @param route Restricts the requests to this route, in the format of `redline top`.
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
    if (traced.length === maxTraced || covered >= tracedShare * requests.length) break;
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

/** Picks the first, the last and the middle request: those of one route may take different paths. */
function differing(load: readonly Request[]): Request[] {
  const chosen = [0, Math.floor(load.length / 2), load.length - 1].map((index) => load[index]!);
  return [...new Map(chosen.map((request) => [request.path, request])).values()];
}
