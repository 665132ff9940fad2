import { basename, resolve } from 'node:path';
import type { RequestConfig } from '../config/types.ts';
import { LabError } from '../errors.ts';
import { fixed } from '../report/format.ts';
import { readAccessLog } from './read-access-log.ts';
import { RoutePatterns } from './route-pattern.ts';

/** The requests of a log, as a load. */
export interface ReplayList {
  requests: Required<RequestConfig>[];
  /** Shown in reports in place of the requests. */
  label: string;
  /** Milliseconds from the first request of the log; absent when the log has no times. */
  atMs?: number[];
  /** Requests per second in the log; absent when it has no times. */
  recordedRps?: number;
  /** Requests that were left out, one sentence each. */
  warnings: string[];
}

/** Limited because load generators hold all requests in memory, formatted. */
const maxRequests = 20_000;

/**
 * Reads the requests of a log that succeeded and can be repeated. A log has no bodies, so only GET and HEAD are taken.
 * @param options `route`: only the requests of this one, as `redline top` writes it; `format`: as for `readAccessLog`.
 * @throws {LabError} ERR_REDLINE_ACCESS_LOG, ERR_REDLINE_OPTION
 */
export async function readReplayList(
  file: string,
  signal: AbortSignal,
  { route, format }: { route?: string | undefined; format?: string | undefined } = {},
): Promise<ReplayList> {
  const pattern = route?.replace(/^[A-Z]+ /, '');
  const patterns = new RoutePatterns(pattern === undefined ? [] : [pattern], { option: '--route' });
  const otherRoutes = new Set<string>();
  const taken: { request: Required<RequestConfig>; time: number | undefined }[] = [];
  const left = { method: 0, status: 0, beyond: 0 };
  const path = file === '-' ? file : resolve(file);
  const counts = await readAccessLog(
    [path],
    ({ method, path: target, status = 200, time }) => {
      if (method !== 'GET' && method !== 'HEAD') left.method++;
      else if (status < 200 || status >= 400) left.status++;
      else if (pattern !== undefined && patterns.routeOf(target) !== pattern) {
        otherRoutes.add(patterns.routeOf(target));
      } else if (taken.length >= maxRequests) left.beyond++;
      else taken.push({ request: asLogged(method, target), time });
    },
    signal,
    { format },
  );
  const name = basename(path);
  if (taken.length === 0 && otherRoutes.size > 0) {
    throw unknownRoute(name, pattern!, [...otherRoutes]);
  }
  if (taken.length === 0) {
    throw new LabError(
      'ERR_REDLINE_ACCESS_LOG',
      `None of the ${counts.requests} requests in ${file} can be replayed: only GET and HEAD requests answered with 2xx or 3xx are, because a log has no bodies.`,
    );
  }
  return {
    requests: taken.map(({ request }) => request),
    label: `${fixed(taken.length)} requests of ${pattern === undefined ? '' : `${pattern} in `}${name}`,
    ...timesOf(taken.map(({ time }) => time)),
    warnings: [
      ...(counts.unreadable > 0
        ? [`${counts.unreadable} of ${counts.lines} lines of ${file} could not be read.`]
        : []),
      ...leftOutWarnings(left),
    ],
  };
}

function leftOutWarnings(left: { method: number; status: number; beyond: number }): string[] {
  const warnings: string[] = [];
  if (left.method > 0) {
    warnings.push(
      `${left.method} requests other than GET and HEAD are not replayed, because a log has no bodies.`,
    );
  }
  if (left.status > 0) {
    warnings.push(
      `${left.status} requests are not replayed, because their status was outside 2xx and 3xx.`,
    );
  }
  if (left.beyond > 0) {
    warnings.push(
      `Only the first ${maxRequests} requests are replayed; the ${left.beyond} after them are not.`,
    );
  }
  return warnings;
}

/** @throws {LabError} ERR_REDLINE_OPTION when a route is given without a log */
export function requireLog(log: string | undefined, route: string | undefined): void {
  if (log !== undefined || route === undefined) return;
  throw new LabError(
    'ERR_REDLINE_OPTION',
    `--route ${route} selects requests of a log: give the log with --replay.`,
  );
}

function unknownRoute(name: string, route: string, routes: readonly string[]): LabError {
  const some = routes.slice(0, 8).join(', ');
  const more = routes.length > 8 ? ` and ${routes.length - 8} more` : '';
  return new LabError(
    'ERR_REDLINE_OPTION',
    `No request in ${name} matches --route ${route}; its routes are ${some}${more}.`,
  );
}

/** Compares the status only: a log has no bodies, and a response may change from one request to the next. */
function asLogged(method: string, path: string): Required<RequestConfig> {
  return { method, path, headers: {}, body: '', compare: 'status', timed: true };
}

function timesOf(times: (number | undefined)[]): Pick<ReplayList, 'atMs' | 'recordedRps'> {
  const known = times.filter((time) => time !== undefined);
  if (known.length < times.length || known.length < 2) return {};
  // Logs are written when a request ends, so they are only roughly in order of time.
  const first = known.reduce((min, time) => Math.min(min, time));
  const atMs = spread(known.map((time) => time - first).toSorted((a, b) => a - b));
  const seconds = (atMs.at(-1)! || 1_000) / 1_000;
  return { atMs, recordedRps: times.length / seconds };
}

/** Spreads the requests of each second over it: times in whole seconds would send them in one burst. */
function spread(atMs: number[]): number[] {
  if (atMs.some((at) => at % 1_000 !== 0)) return atMs;
  const perSecond = new Map<number, number>();
  for (const at of atMs) perSecond.set(at, (perSecond.get(at) ?? 0) + 1);
  const placed = new Map<number, number>();
  return atMs.map((at) => {
    const nth = placed.get(at) ?? 0;
    placed.set(at, nth + 1);
    return at + (nth * 1_000) / perSecond.get(at)!;
  });
}
