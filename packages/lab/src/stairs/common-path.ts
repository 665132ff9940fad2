import type { StageKind, Trace, TraceEntry } from './preload/protocol.ts';

/** A point where the request can end: the entry of a function that every request enters. */
export interface PathStage {
  /** Its id in the preload. */
  id: string;
  name: string;
  kind: StageKind | 'routing';
  /** `src/price.js:41`; empty for functions outside the app. */
  place: string;
  /** Functions entered between this stage and the next, more than once or not in every request. */
  calls: { name: string; count: number }[];
}

/** The stages that all traced requests of one kind passed. */
export interface CommonPath {
  /** In the order in which every request entered them. */
  stages: PathStage[];
  /** Functions that must stop an unwinding request. */
  guards: string[];
  followsAsync: boolean;
  /** Functions entered after the response was sent: their cost belongs to the stage that requested them. */
  afterAnswer: string[];
}

/** Entered before any code of the app: the runner's own name for the event. */
export const requestStage = 'request';

/** Cost of the request before the app, which no trace shows. */
export const httpStage = 'parse HTTP';

/**
 * Finds the stages that all traced requests passed, in one order.
 * @param traces At least one, of the same request sent again and again.
 */
export function findCommonPath(traces: readonly Trace[]): CommonPath {
  const [first, ...others] = traces as [Trace, ...Trace[]];
  const common = first.entries.filter((entry) => others.every((trace) => isLike(entry, trace)));
  const onPath = withoutWrapped(inOneOrder(common.filter(isStage), others));
  const stages = onPath.map(({ entry, inner }) => toStage(entry, inner));
  addCalls(stages, first.entries);
  if (onPath[0] && startsInFramework(onPath[0].entry)) stages.unshift(routing());
  makeNamesUnique(stages);
  const ids = new Set(stages.map(({ id }) => id));
  return {
    stages,
    guards: guardsOf(traces),
    followsAsync: traces.some(({ entries }) =>
      entries.some((entry) => ids.has(entry.id) && !entry.isSameTurn),
    ),
    afterAnswer: first.entries.filter((entry) => entry.afterAnswer).map(({ name }) => name),
  };
}

function routing(): PathStage {
  return { id: requestStage, name: 'routing', kind: 'routing', place: '', calls: [] };
}

/**
 * True if the entry can be a stage. Functions of the app must be entered once; those of a framework may be entered more often, e.g.
 * one pipe for two parameters. Bundled code of a package belongs to the package, as it does without a bundle.
 */
function isStage({ kind, count, afterAnswer, package: from }: TraceEntry): boolean {
  const isOfApp = kind === 'function' || kind === 'resume';
  return !afterAnswer && from === undefined && (!isOfApp || count === 1);
}

function isLike(entry: TraceEntry, { entries }: Trace): boolean {
  const other = entries.find(({ id }) => id === entry.id);
  return other?.count === entry.count && other.afterAnswer === entry.afterAnswer;
}

/** Drops functions that sometimes overtake their neighbours: they have no place in an order. */
function inOneOrder(entries: readonly TraceEntry[], others: readonly Trace[]): TraceEntry[] {
  const orders = others.map(
    (trace) => new Map(trace.entries.map(({ id }, index) => [id, index] as const)),
  );
  const latest = orders.map(() => -1);
  return entries.filter(({ id }) => {
    const places = orders.map((order) => order.get(id)!);
    const isAfter = places.every((place, index) => place > latest[index]!);
    if (isAfter) places.forEach((place, index) => (latest[index] = place));
    return isAfter;
  });
}

/** Merges a handler and the framework's call of it into one stage. */
function withoutWrapped(
  entries: readonly TraceEntry[],
): { entry: TraceEntry; inner: TraceEntry | undefined }[] {
  const stages: { entry: TraceEntry; inner: TraceEntry | undefined }[] = [];
  for (const entry of entries) {
    const last = stages.at(-1);
    if (entry.kind === 'function' && entry.isWrapped && last && last.entry.kind !== 'function') {
      if (last.inner === undefined) {
        last.inner = entry;
        continue;
      }
    }
    stages.push({ entry, inner: undefined });
  }
  return stages;
}

function toStage(entry: TraceEntry, inner: TraceEntry | undefined): PathStage {
  const isNamed =
    inner !== undefined && !inner.name.includes('<anonymous>') && !inner.name.endsWith('(…)');
  return {
    id: entry.id,
    name: isNamed ? inner.name : entry.name,
    kind: entry.kind,
    place: entry.place || (inner?.place ?? ''),
    calls: [],
  };
}

function addCalls(stages: readonly PathStage[], entries: readonly TraceEntry[]): void {
  const byId = new Map(stages.map((stage) => [stage.id, stage]));
  let current: PathStage | undefined;
  for (const { id, name, count, kind, isWrapped, package: from } of entries) {
    current = byId.get(id) ?? current;
    if (byId.has(id) || kind !== 'function' || isWrapped) continue;
    const calls = current?.calls;
    // Functions of a package are grouped, because they are not tuned individually.
    const same = from === undefined ? undefined : calls?.find((each) => each.name === from);
    if (same === undefined) calls?.push({ name: from ?? name, count });
    else same.count += count;
  }
}

/** Makes names unique, because stages are selected by name. A function keeps its own name. */
function makeNamesUnique(stages: readonly PathStage[]): void {
  for (const [name, same] of Map.groupBy(stages, (stage) => stage.name)) {
    if (same.length === 1) continue;
    for (const stage of same) {
      if (stage.kind !== 'function') stage.name = `${name} (${stage.kind})`;
    }
  }
  const counts = new Map<string, number>();
  for (const stage of stages) {
    const count = (counts.get(stage.name) ?? 0) + 1;
    counts.set(stage.name, count);
    if (count > 1) stage.name = `${stage.name} #${count}`;
  }
}

function startsInFramework(first: TraceEntry): boolean {
  return first.kind !== 'function' || first.isBelowDependency;
}

/**
 * Finds functions that need a guard. One that no function of the app calls, with none of ours below it, would throw into the event
 * loop; the promise of an asynchronous listener is not handled either.
 */
function guardsOf(traces: readonly Trace[]): string[] {
  const guards = new Set<string>();
  for (const entry of traces.flatMap(({ entries }) => entries)) {
    if (entry.kind !== 'function' || entry.isConstructor || entry.isWrapped) continue;
    const isLoose = entry.isAsync ? entry.isListener : entry.isRoot && !entry.isCaught;
    if (isLoose) guards.add(entry.id);
  }
  return [...guards];
}
