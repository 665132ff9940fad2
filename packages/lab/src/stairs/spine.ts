import type { StageKind, Trace, TraceEntry } from './preload/protocol.ts';

/** A point where the request can end: the entry of a function that every request enters. */
export interface SpineStage {
  /** Its id in the preload. */
  id: string;
  name: string;
  kind: StageKind | 'routing';
  /** `src/price.js:41`; empty for functions outside the app. */
  place: string;
  /** Functions that are entered between this stage and the next, more than once or not each time. */
  calls: { name: string; count: number }[];
}

export interface Spine {
  stages: SpineStage[];
  /** Functions where a request that ends has to be stopped on its way out. */
  guards: string[];
  followsAsync: boolean;
  /** Functions entered after the response was sent: their cost belongs to the stage that requested them. */
  afterAnswer: string[];
}

/** Entered before anything of the app: the runner's own name for the event. */
export const requestStage = 'request';

/** The cost of the request before the app, which no trace shows. */
export const httpStage = 'parse HTTP';

/**
 * The stages that all traced requests passed, in one order.
 * @param traces At least one, of the same request sent again and again.
 */
export function findSpine(traces: readonly Trace[]): Spine {
  const [first, ...others] = traces as [Trace, ...Trace[]];
  const common = first.entries.filter((entry) => others.every((trace) => isLike(entry, trace)));
  const onSpine = withoutWrapped(inOneOrder(common.filter(isStage), others));
  const stages = onSpine.map(({ entry, inner }) => toStage(entry, inner));
  addCalls(stages, first.entries);
  if (onSpine[0] && startsInFramework(onSpine[0].entry)) stages.unshift(routing());
  nameApart(stages);
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

function routing(): SpineStage {
  return { id: requestStage, name: 'routing', kind: 'routing', place: '', calls: [] };
}

/**
 * Functions of the app count when they are entered once; those of a framework may be, say, one pipe for two parameters. What a
 * bundle has of a package is the package's, as it is without a bundle.
 */
function isStage({ kind, count, afterAnswer, package: from }: TraceEntry): boolean {
  const isOfApp = kind === 'function' || kind === 'resume';
  return !afterAnswer && from === undefined && (!isOfApp || count === 1);
}

function isLike(entry: TraceEntry, { entries }: Trace): boolean {
  const other = entries.find(({ id }) => id === entry.id);
  return other?.count === entry.count && other.afterAnswer === entry.afterAnswer;
}

/** A function that sometimes overtakes its neighbours has no place in an order. */
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

/** A handler and the framework's call of it are one stage. */
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

function toStage(entry: TraceEntry, inner: TraceEntry | undefined): SpineStage {
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

function addCalls(stages: readonly SpineStage[], entries: readonly TraceEntry[]): void {
  const byId = new Map(stages.map((stage) => [stage.id, stage]));
  let current: SpineStage | undefined;
  for (const { id, name, count, kind, isWrapped, package: from } of entries) {
    current = byId.get(id) ?? current;
    if (byId.has(id) || kind !== 'function' || isWrapped) continue;
    const calls = current?.calls;
    // Of a package nobody looks for the hundred functions one by one.
    const same = from === undefined ? undefined : calls?.find((each) => each.name === from);
    if (same === undefined) calls?.push({ name: from ?? name, count });
    else same.count += count;
  }
}

/** Stages are selected by name, so no two may have the same. A function keeps its own. */
function nameApart(stages: readonly SpineStage[]): void {
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
 * A function called by no one in the app, with none of our functions below it, would throw into the event loop; nobody
 * handles the promise of an asynchronous listener.
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
