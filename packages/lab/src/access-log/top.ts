import { Durations } from './durations.ts';
import type { LoggedRequest } from './logged-request.ts';
import type { LogCounts } from './read-access-log.ts';
import type { RoutePatterns } from './route-pattern.ts';
import { RouteTree } from './route-tree.ts';
import type { RunFacts } from '../report/run-facts.ts';

/** What `redline top` and `redline replay` leave behind. */
export interface TopResult extends RunFacts {
  schema: 1;
  command: 'top' | 'replay';
  title: string;
  files: string[];
  counts: LogCounts;
  /** False when the log says nothing of durations: then the order is by requests. */
  hasDurations: boolean;
  /** From the first request to the last; absent when the log has no times. */
  spanSeconds?: number;
  /** Most total time first. */
  routes: RouteCost[];
  /** Levels of the path with so many values that they are one route, e.g. `/blog/:name`. */
  folded?: string[];
  warnings: string[];
}

export interface RouteCost {
  /** e.g. `GET` */
  method: string;
  /** e.g. `/users/:id` */
  route: string;
  requests: number;
  /** Of all total time; of all requests where the log has no durations. 0 to 1. */
  share: number;
  totalMs?: number;
  meanMs?: number;
  p50Ms?: number;
  p99Ms?: number;
  /** Answers with 500 or above. */
  serverErrors: number;
  /** The path that came most often, to try it with. */
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
  /** Enough of them to know a frequent one. */
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
  // A slice keeps the whole chunk of the log alive; this is a copy.
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
