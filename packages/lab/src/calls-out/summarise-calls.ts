import { relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { SourceMaps } from '../profile/source-maps.ts';
import { mean, median, medianInterval } from '../stats/order-statistics.ts';
import type {
  CallGroup,
  CallOrder,
  CallPlace,
  CallsOfCaller,
  CallsSummary,
  CallTimes,
} from './result.ts';
import type { CallFrame, CallOut, RequestCalls } from './preload/protocol.ts';

/** Where calls are shown. */
interface Caller {
  name: string;
  place: string;
  cut?: number;
}

interface CallsContext {
  /** Folder of the app. */
  folder: string;
  /** Returns the stage of a call. @default the function that calls */
  callerOf?: (call: CallOut) => Caller;
}

interface PlacedCall {
  call: CallOut;
  request: number;
  places: CallPlace[];
}

/** A call that fewer requests make is left out: it fills a cache, or opens a connection. */
const leastShare = 0.2;

/** Summarises the calls of some requests; undefined if none of them calls anything. */
export function summariseCalls(
  requests: readonly RequestCalls[],
  { folder, callerOf }: CallsContext,
): CallsSummary | undefined {
  const maps = new SourceMaps();
  const placed = requests.flatMap(({ calls }, request) =>
    calls.map((call): PlacedCall => ({
      call,
      request,
      places: placesOf(call.frames, { maps, folder }),
    })),
  );
  const callers: CallsOfCaller[] = [];
  const ofGroups = [...Map.groupBy(placed, keyOfGroup).values()].filter(
    (group) => shareOf(group, requests.length) >= leastShare,
  );
  const kept = ofGroups.flat();
  for (const calls of Map.groupBy(kept, (each) => keyOfCaller(each, callerOf)).values()) {
    const first = calls[0]!;
    const groups = [...Map.groupBy(calls, keyOfGroup).values()].map((group) =>
      groupOf(group, requests.length),
    );
    callers.push({
      ...(callerOf?.(first.call) ?? ownCaller(first)),
      ...figuresOf(calls),
      groups: groups.toSorted((a, b) => timeOf(b) - timeOf(a)),
    });
  }
  if (callers.length === 0) return undefined;
  return {
    requests: requests.length,
    ms: medianInterval(requests.map(({ ms }) => ms)),
    ...figuresOf(kept),
    callers,
  };
}

/** Returns the time of some calls in ms. */
export function timeOf({ waitMs, cpuMs }: CallTimes): number {
  return waitMs.value + cpuMs.value;
}

function keyOfGroup({ call: { system, text, stage }, places }: PlacedCall): string {
  return JSON.stringify([system, text, stage, places[0]?.place]);
}

function keyOfCaller(placed: PlacedCall, callerOf: CallsContext['callerOf']): string {
  const { name, place, cut } = callerOf?.(placed.call) ?? ownCaller(placed);
  return JSON.stringify(cut === undefined ? [name, fileOf(place)] : cut);
}

/** A function without a name, such as one given to `map`, goes by the one around it, or by its place. */
function ownCaller({ places }: PlacedCall): Caller {
  const [first] = places;
  if (first === undefined) return { name: 'a function not on the stack', place: '' };
  const around = places.find(
    ({ name, place }) => name !== '' && fileOf(place) === fileOf(first.place),
  );
  return { name: around?.name ?? first.place, place: first.place };
}

function fileOf(place: string): string {
  return place.replace(/:\d+$/, '');
}

function shareOf(calls: readonly PlacedCall[], requests: number): number {
  return new Set(calls.map(({ request }) => request)).size / requests;
}

function figuresOf(calls: readonly PlacedCall[]): CallTimes & { count: number; order: CallOrder } {
  const perRequest = [...Map.groupBy(calls, ({ request }) => request).values()].map((own) =>
    own.map(({ call }) => call),
  );
  const times = perRequest.map(timeOpen);
  return {
    count: Math.round(median(perRequest.map((own) => own.length))),
    order: mostFrequent(perRequest.map(orderOf)),
    waitMs: medianInterval(times.map(({ waitMs }) => waitMs)),
    cpuMs: medianInterval(times.map(({ cpuMs }) => cpuMs)),
  };
}

function groupOf(calls: readonly PlacedCall[], requests: number): CallGroup {
  const { call, places } = calls[0]!;
  const perRequest = [...Map.groupBy(calls, ({ request }) => request).values()];
  const distinct = perRequest.map((own) => new Set(own.map((each) => each.call.values)).size);
  return {
    system: call.system,
    text: call.text,
    places,
    ...figuresOf(calls),
    distinct: Math.round(median(distinct)),
    share: shareOf(calls, requests),
    failed: mean(calls.map((each) => Number(each.call.hasFailed === true))),
  };
}

function mostFrequent(orders: readonly CallOrder[]): CallOrder {
  const counted = [...Map.groupBy(orders, (order) => order)];
  return counted.toSorted(([, a], [, b]) => b.length - a.length)[0]![0];
}

/** Returns the functions of the app's source for frames of its code; those of bundled packages are left out. */
function placesOf(
  frames: readonly CallFrame[],
  { maps, folder }: { maps: SourceMaps; folder: string },
): CallPlace[] {
  return frames.flatMap(({ name, file, line, column }) => {
    const {
      url,
      line: originalLine,
      column: originalColumn,
    } = maps.original({
      url: pathToFileURL(file).href,
      line,
      column,
    });
    const path = url.startsWith('file:') ? fileURLToPath(url) : url;
    if (/[\\/]node_modules[\\/]/.test(path)) return [];
    const inFolder = relative(folder, path);
    const shown = inFolder.startsWith('..') ? path.split(/[\\/]/).slice(-2).join('/') : inFolder;
    return [{ name, place: `${shown}:${originalLine}`, column: originalColumn }];
  });
}

type Span = Pick<CallOut, 'fromMs' | 'toMs' | 'fromIdleMs' | 'toIdleMs' | 'fromCpuMs' | 'toCpuMs'>;

/** Returns the idle time of the event loop and the CPU of the thread while at least one of the calls was open. */
export function timeOpen(spans: readonly Span[]): { waitMs: number; cpuMs: number } {
  const merged: Span[] = [];
  for (const span of inOrder(spans)) {
    const last = merged.at(-1);
    if (last === undefined || span.fromMs > last.toMs) merged.push({ ...span });
    else if (span.toMs > last.toMs) {
      last.toMs = span.toMs;
      last.toIdleMs = span.toIdleMs;
      last.toCpuMs = span.toCpuMs;
    }
  }
  let [waitMs, cpuMs] = [0, 0];
  for (const { fromIdleMs, toIdleMs, fromCpuMs, toCpuMs } of merged) {
    waitMs += Math.max(0, toIdleMs - fromIdleMs);
    cpuMs += Math.max(0, toCpuMs - fromCpuMs);
  }
  return { waitMs, cpuMs };
}

export function orderOf(spans: readonly Span[]): CallOrder {
  if (spans.length < 2) return 'one';
  let most = 0;
  const open: number[] = [];
  for (const { fromMs, toMs } of inOrder(spans)) {
    for (let at = open.length - 1; at >= 0; at--) if (open[at]! <= fromMs) open.splice(at, 1);
    open.push(toMs);
    most = Math.max(most, open.length);
  }
  if (most === 1) return 'one after another';
  return most === spans.length ? 'together' : 'mixed';
}

function inOrder(spans: readonly Span[]): Span[] {
  return spans.toSorted((a, b) => a.fromMs - b.fromMs);
}
