import { Durations } from './durations.ts';
import type { LogCounts, LoggedRequest } from './logged-request.ts';
import type { RoutePatterns } from './route-pattern.ts';
import { RouteTree } from './route-tree.ts';
import type { RunFacts } from '../report/run-facts.ts';

/** The result of `redline top` and `redline replay`. */
export interface TopResult extends RunFacts {
  schema: 1;
  command: 'top' | 'replay';
  title: string;
  files: string[];
  counts: LogCounts;
  /** False if the log has no durations; routes are then ordered by requests. */
  hasDurations: boolean;
  /** From the first request to the last; absent when the log has no times. */
  spanSeconds?: number;
  /** Longest total time first. */
  routes: RouteCost[];
  /** Levels of the path with too many values, each folded into one route, e.g. `/blog/:name`. */
  folded?: string[];
  warnings: string[];
}

export interface RouteCost {
  /** e.g. `GET` */
  method: string;
  /** e.g. `/users/:id` */
  route: string;
  requests: number;
  /** Share of all total time, or of all requests if the log has no durations; 0 to 1. */
  share: number;
  totalMs?: number;
  meanMs?: number;
  p50Ms?: number;
  p99Ms?: number;
  /** Responses with status 500 or above. */
  serverErrors: number;
  /** The most frequent path, to try the route with. */
  example: string;
}

/** Adds up requests by route. */
export class RouteCosts {
  readonly #patterns: RoutePatterns;
  readonly #routes = new RouteTree<Tally>(newTally, mergeTally);
  #first = Number.POSITIVE_INFINITY;
  #last = Number.NEGATIVE_INFINITY;

  constructor(patterns: RoutePatterns) {
    this.#patterns = patterns;
  }

  add({ method, path, status = 0, durationMs, time }: LoggedRequest): void {
    const tally = this.#routes.tallyOf(method, this.#patterns.routeOf(path));
    tally.requests++;
    if (status >= 500) tally.errors++;
    if (durationMs !== undefined) tally.durations.add(durationMs);
    addPath(tally, path, 1);
    if (time !== undefined) {
      if (time < this.#first) this.#first = time;
      if (time > this.#last) this.#last = time;
    }
  }

  summarise(): Pick<TopResult, 'routes' | 'hasDurations' | 'spanSeconds' | 'folded'> {
    const { routes: found, folded } = this.#routes.entries();
    const hasDurations = found.some(({ tally }) => tally.durations.count > 0);
    const weightOf = ({ tally }: Route): number =>
      hasDurations ? tally.durations.totalMs : tally.requests;
    const whole = found.reduce((sum, route) => sum + weightOf(route), 0) || 1;
    const routes = found
      .toSorted((a, b) => weightOf(b) - weightOf(a) || b.tally.requests - a.tally.requests)
      .map((route) => toCost(route, weightOf(route) / whole));
    return {
      routes,
      hasDurations,
      ...(this.#last > this.#first ? { spanSeconds: (this.#last - this.#first) / 1_000 } : {}),
      ...(folded.length > 0 ? { folded: folded.map(({ route }) => route) } : {}),
    };
  }
}

interface Route {
  method: string;
  route: string;
  tally: Tally;
}

interface Tally {
  requests: number;
  errors: number;
  durations: Durations;
  /** Counts of the first 32 paths, enough to find a frequent one. */
  paths: Map<string, number>;
}

const maxPaths = 32;

function newTally(): Tally {
  return { requests: 0, errors: 0, durations: new Durations(), paths: new Map() };
}

function mergeTally(into: Tally, from: Tally): void {
  into.requests += from.requests;
  into.errors += from.errors;
  into.durations.merge(from.durations);
  for (const [path, count] of from.paths) addPath(into, path, count);
}

function addPath({ paths }: Tally, path: string, count: number): void {
  const known = paths.get(path);
  if (known !== undefined) paths.set(path, known + count);
  // Copied, because a slice keeps the whole chunk of the log alive.
  else if (paths.size < maxPaths) paths.set(` ${path}`.slice(1), count);
}

function toCost({ method, route, tally }: Route, share: number): RouteCost {
  const { requests, errors, durations, paths } = tally;
  const [example] = [...paths].reduce((max, each) => (each[1] > max[1] ? each : max));
  const [p50Ms, p99Ms] = durations.count === 0 ? [] : durations.quantiles(0.5, 0.99);
  const times =
    durations.count === 0
      ? {}
      : {
          totalMs: durations.totalMs,
          meanMs: durations.totalMs / durations.count,
          p50Ms: p50Ms!,
          p99Ms: p99Ms!,
        };
  return { method, route, requests, share, ...times, serverErrors: errors, example };
}
