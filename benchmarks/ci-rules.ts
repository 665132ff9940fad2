// The rules by which three ways of watching for slowdowns turn a build red, applied to the same planted changes.

/** The planted changes: more CPU per request, as a share. */
export const changes = [0, 0.03, 0.05, 0.1] as const;

/** Events that a simulated processor counted, per request. */
export interface Simulated {
  instructions: number;
  /** Instructions, 10 for each miss of the first cache, and 100 for each of the last. */
  cycles: number;
}

export interface ComparedRun {
  change: number;
  startedAt: string;
  seconds: number;
  /** By `redline ci`: more CPU than the base, as fractions, and the farthest the base reads from itself. */
  ci: {
    restarts: number;
    more: { value: number; low: number; high: number };
    noise: number | null;
  };
  /** One value of each commit, in requests per second. */
  single: { base: number; present: number };
  /** Null where valgrind is missing. */
  simulated: { base: Simulated; present: Simulated } | null;
}

interface Rule {
  name: string;
  /** Undefined if the run has no figures for it. */
  isRed: (run: ComparedRun) => boolean | undefined;
}

/** Proved: the whole interval lies beyond the limit, and beyond what the base reads of itself. */
const beyond =
  (limit: number) =>
  ({ ci: { more, noise } }: ComparedRun): boolean =>
    noise !== null && more.low > Math.max(limit, noise);
/** One value against the last: the ratio of the two, where more is better. */
const single =
  (threshold: number) =>
  ({ single: { base, present } }: ComparedRun): boolean =>
    base / present > threshold;
const simulated =
  (threshold: number) =>
  ({ simulated: events }: ComparedRun): boolean | undefined =>
    events === null ? undefined : events.present.cycles / events.base.cycles - 1 > threshold;

/** By name, each with its default and with thresholds that could see the planted changes. */
export const rules: readonly Rule[] = [
  { name: '`redline ci`, 3 % allowed (default)', isRed: beyond(0.03) },
  { name: '`redline ci`, 1 % allowed', isRed: beyond(0.01) },
  { name: 'github-action-benchmark, 200 % (default)', isRed: single(2) },
  { name: 'github-action-benchmark, 110 %', isRed: single(1.1) },
  { name: 'github-action-benchmark, 105 %', isRed: single(1.05) },
  { name: 'a simulated processor, as CodSpeed, 10 % (default)', isRed: simulated(0.1) },
  { name: 'a simulated processor, 2 %', isRed: simulated(0.02) },
  { name: 'a simulated processor, 0.5 %', isRed: simulated(0.005) },
];

export interface Judged {
  runs: number;
  red: number;
}

/** Counts the red builds, by rule and by change in per cent. */
export function judgeAll(runs: readonly ComparedRun[]): Record<string, Record<string, Judged>> {
  const judged = rules.map(({ name, isRed }) => {
    const counts = changes.map((change) => {
      const words = runs.filter((run) => run.change === change).map(isRed);
      const known = words.filter((word) => word !== undefined);
      return [
        String(Math.round(change * 100)),
        { runs: known.length, red: known.filter(Boolean).length },
      ];
    });
    return [name, Object.fromEntries(counts)];
  });
  return Object.fromEntries(judged) as Record<string, Record<string, Judged>>;
}
