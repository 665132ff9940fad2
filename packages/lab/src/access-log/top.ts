import { quantileOfSorted } from '../stats/quantile.ts';
import type { LoggedRequest } from './logged-request.ts';
import type { LogCounts } from './read-access-log.ts';
import type { RoutePatterns } from './route-pattern.ts';
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
  readonly #routes = new Map<string, Tally>();
  #first = Number.POSITIVE_INFINITY;
  #last = Number.NEGATIVE_INFINITY;

  constructor(patterns: RoutePatterns) {
    this.#patterns = patterns;
  }

  add({ method, path, status = 0, durationMs, time }: LoggedRequest): void {
    const route = this.#patterns.routeOf(path);
    const key = `${method} ${route}`;
    let tally = this.#routes.get(key);
    if (tally === undefined) {
      tally = { method, route, requests: 0, errors: 0, durations: [], paths: new Map() };
      this.#routes.set(key, tally);
    }
    tally.requests++;
    if (status >= 500) tally.errors++;
    if (durationMs !== undefined) tally.durations.push(durationMs);
    // Enough to know a frequent one; a million ids are not kept.
    if (tally.paths.size < 1_000 || tally.paths.has(path)) {
      tally.paths.set(path, (tally.paths.get(path) ?? 0) + 1);
    }
    if (time !== undefined) {
      this.#first = Math.min(this.#first, time);
      this.#last = Math.max(this.#last, time);
    }
  }

  summarise(): Pick<TopResult, 'routes' | 'hasDurations' | 'spanSeconds'> {
    const tallies = [...this.#routes.values()];
    const hasDurations = tallies.some(({ durations }) => durations.length > 0);
    const weights = new Map(
      tallies.map((tally) => [tally, hasDurations ? sum(tally.durations) : tally.requests]),
    );
    const whole = sum([...weights.values()]) || 1;
    const routes = tallies
      .toSorted((a, b) => weights.get(b)! - weights.get(a)! || b.requests - a.requests)
      .map((tally) => toCost(tally, weights.get(tally)! / whole));
    return {
      routes,
      hasDurations,
      ...(this.#last > this.#first ? { spanSeconds: (this.#last - this.#first) / 1_000 } : {}),
    };
  }
}

interface Tally {
  method: string;
  route: string;
  requests: number;
  errors: number;
  durations: number[];
  paths: Map<string, number>;
}

function toCost(tally: Tally, share: number): RouteCost {
  const { method, route, requests, errors, durations, paths } = tally;
  const sorted = durations.toSorted((a, b) => a - b);
  const [example] = [...paths].reduce((most, each) => (each[1] > most[1] ? each : most));
  const times =
    sorted.length === 0
      ? {}
      : {
          totalMs: sum(sorted),
          meanMs: sum(sorted) / sorted.length,
          p50Ms: quantileOfSorted(sorted, 0.5),
          p99Ms: quantileOfSorted(sorted, 0.99),
        };
  return { method, route, requests, share, ...times, serverErrors: errors, example };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
