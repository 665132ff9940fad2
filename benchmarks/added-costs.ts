// Costs of known size that were put into places of an app, compared with the readings of `redline stairs` for its stages.

export interface Stage {
  name: string;
  micros: { value: number; low: number; high: number };
  verdict: string;
}

export interface Run {
  app: string;
  startedAt?: string;
  /** Duration of the whole run. */
  seconds?: number;
  /** Measuring time; 15 if missing. */
  measuringSeconds?: number;
  /** The system's load average of the last minute: processes that wanted a core. */
  loadBefore?: number;
  injected: Record<string, number>;
  stages: Stage[];
  leftOut: string[];
  /** Rise of each place, in µs. Missing in the run without costs. */
  found?: Record<string, { put: number; rose: number; isRight: boolean; isSaid: boolean }>;
  blamed?: string[];
}

/** The injected costs, in µs. */
export const amounts = [20, 50, 200];
/** Half of the smallest injected cost: another stage that rises by more is blamed falsely. */
const falseMicros = 10;
/** A loop of 200 µs costs the rest of the request more than it lasts: the code after it has more cache misses. */
const tolerance = 0.15;

/** Assigns each amount to a place of its own; other places for every count. */
export function injection(places: readonly string[], count: number): Record<string, number> {
  return Object.fromEntries(
    amounts.map((micros, at) => [places[(count + at * 2) % places.length]!, micros]),
  );
}

/** @param bases The runs without costs just before and just after: the machine's drift is between them. */
export function judged(run: Run, bases: readonly Run[], places: Record<string, RegExp>): Run {
  const riseOf = ({ name, micros }: Stage): { rose: number; half: number } => {
    const same = bases.flatMap(({ stages }) => stages.find((stage) => stage.name === name) ?? []);
    const levels = (same.length > 0 ? same : [{ micros }]).map((stage) => stage.micros);
    const values = levels.map(({ value }) => value);
    const before = values.reduce((sum, value) => sum + value, 0) / levels.length;
    const halves = levels.map(({ low, high }) => (high - low) / 2);
    const drift = (Math.max(...values) - Math.min(...values)) / 2;
    const half = Math.hypot(
      (micros.high - micros.low) / 2,
      Math.hypot(...halves) / levels.length,
      drift,
    );
    return { rose: micros.value - before, half };
  };
  const found: Run['found'] = {};
  const own = new Set<string>();
  for (const [place, put] of Object.entries(run.injected)) {
    const stage = run.stages.find(({ name }) => places[place]!.test(name));
    if (stage) own.add(stage.name);
    const { rose, half } = stage ? riseOf(stage) : { rose: 0, half: 0 };
    const isRight = rose > put / 2 && Math.abs(rose - put) <= Math.max(half, tolerance * put);
    found[place] = { put, rose, isRight, isSaid: stage?.verdict === 'changed' };
  }
  const blamed = run.stages
    .filter((stage) => {
      const { rose, half } = riseOf(stage);
      return !own.has(stage.name) && rose - half > 0 && rose > falseMicros;
    })
    .map(({ name }) => name);
  return { ...run, found, blamed };
}

export function describe({ found, blamed }: Run): string {
  const each = Object.entries(found!).map(
    ([place, { put, rose, isRight }]) =>
      `${put} µs in ${place}: ${rose.toFixed(1)}${isRight ? '' : ' (not right)'}`,
  );
  return `${each.join('; ')}; falsely blamed: ${blamed!.join(', ') || 'none'}`;
}

export function measuringSecondsOf({ measuringSeconds = 15 }: Run): number {
  return measuringSeconds;
}

/** Summarises by app and measuring time: the readings of the amounts, and how many were in the right stage. */
export function summaryOf(all: readonly Run[]): object {
  const alike = Map.groupBy(all, (run) => {
    const seconds = measuringSecondsOf(run);
    return seconds === 15 ? run.app : `${run.app}, ${seconds} s`;
  });
  const counts = [...alike].map(([app, ofApp]) => {
    const runs = ofApp.filter(({ found }) => found);
    const injections = runs.flatMap(({ found }) => Object.values(found!));
    return [
      app,
      {
        injections: injections.length,
        saidToCost: injections.filter(({ isSaid }) => isSaid).length,
        inTheRightStage: injections.filter(({ isRight }) => isRight).length,
        read: Object.fromEntries(
          amounts.map((amount) => {
            const rises = injections.filter(({ put }) => put === amount).map(({ rose }) => rose);
            return [`${amount} µs`, [Math.min(...rises), Math.max(...rises)]];
          }),
        ),
        otherStages: runs.reduce((sum, { stages }) => sum + stages.length - amounts.length, 0),
        falselyBlamed: runs.flatMap(({ blamed }) => blamed!).length,
      },
    ];
  });
  return Object.fromEntries(counts) as object;
}
