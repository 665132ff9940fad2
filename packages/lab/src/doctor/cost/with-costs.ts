import { resolve } from 'node:path';
import type { CallTree, Frame } from '../../profile/call-tree.ts';
import type { SourceMaps } from '../../profile/source-maps.ts';
import type { App } from '../app/app.ts';
import { type Candidate, examine, type Examined } from '../examine.ts';
import type { Cost, Finding } from '../result.ts';
import { enclosingFunction, type Node } from '../syntax/node.ts';

import { RequestPath } from '../syntax/request-path.ts';
import type { SourceFile } from '../syntax/source-file.ts';
import { blockedCalls, jsonCalls, type SeenCall } from './blocked.ts';
import { hotFunctions } from './hot-functions.ts';
import { samplesOf } from './cost-of.ts';
import { ObservedFunctions } from './observed-functions.ts';

export interface Profiled {
  tree: CallTree;
  lines: ReadonlyMap<string, number>;
  microsPerSample: number;
  maps: SourceMaps;
  /** Hits of the rules for hot functions. */
  advice: readonly SeenCall[];
}

const ofSure: Record<Finding['sure'], number> = { certain: 0, likely: 1, hint: 2 };

/**
 * What the rules find in an app that was profiled, with what each finding costs. What the load ran through counts as the path
 * of a request, however it came there.
 */
export function withCosts(
  read: App,
  { tree, lines, microsPerSample, maps, advice }: Profiled,
): { app: App; candidates: Candidate[] } {
  const functions = new ObservedFunctions(tree, read, maps);
  const requests = new RequestPath(read.sources, read.modules, functions.nodes);
  const app: App = { ...read, requests };
  const files = new Map(app.sources.map((file) => [file.path, file]));
  const costOf = (samples: number): Cost => ({
    microsPerRequest: samples * microsPerSample,
    share: samples / Math.max(1, tree.samples),
  });
  const examined = examine(app);
  const found = examined.map((each): Candidate => {
    const { finding, edits, preload } = each;
    const change = { edits, ...(preload === undefined ? {} : { preload }) };
    const fn = functionAround(files, each);
    const samples = each.seen && samplesOf(tree, functions, each.seen, fn);
    if (samples !== undefined && samples > 0) {
      return { finding: { ...finding, cost: costOf(samples), isOnMeasuredPath: true }, ...change };
    }
    const isOn = isOnPath(each, fn, functions);
    return {
      finding: isOn === undefined ? finding : { ...finding, isOnMeasuredPath: isOn },
      ...change,
    };
  });
  const known = new Set(
    examined
      .flatMap((each) =>
        each.seen !== undefined && 'calls' in each.seen
          ? each.seen.calls.map((name) => ({ fn: functionAround(files, each), name }))
          : [],
      )
      .map(({ fn, name }) => (fn === undefined ? '' : keyOf(fn, name))),
  );
  const isKnown = (frame: Frame, callee: string): boolean => {
    const node = functions.of(frame)?.node;
    return node !== undefined && known.has(keyOf(node, callee.replace('JSON.', '')));
  };
  const textOf = (frame: Frame): string | undefined => {
    const fn = functions.of(frame);
    return fn?.file.text.slice(fn.node.start, fn.node.end);
  };
  const options = { maps, folder: app.folder, isKnown, textOf };
  const toCandidate = ({ finding, edits, samples }: SeenCall): Candidate => ({
    finding: { ...finding, cost: costOf(samples) },
    edits,
  });
  const seen = [...blockedCalls(tree, options), ...jsonCalls(tree, options)].map(toCandidate);
  // A rule for hot functions has the function's whole time, and may know a small part of it.
  const explained = [...found, ...seen];
  const isExplained = (frame: Frame, samples: number): boolean => {
    const fn = functions.of(frame);
    return explained.some(({ finding: { file, line, cost } }) => {
      if (fn === undefined || cost === undefined || resolve(app.folder, file) !== fn.file.path)
        return false;
      const isInside =
        fn.file.placeOf(fn.node.start).line <= line && line <= fn.file.placeOf(fn.node.end).line;
      return isInside && cost.share * tree.samples >= samples / 2;
    });
  };
  const hot = hotFunctions(tree, { maps, folder: app.folder, lines, isExplained }).map(toCandidate);
  const hotFindings = hot.map(({ finding }) => finding);
  const candidates = [...hot, ...explained, ...advice.map(toCandidate)].toSorted((a, b) =>
    byWeight(a.finding, b.finding, hotFindings),
  );
  return { app, candidates };
}

function functionAround(
  files: ReadonlyMap<string, SourceFile>,
  { path, start, end }: Examined,
): Node | undefined {
  const program = files.get(path)?.program;
  let innermost: Node | undefined = program;
  for (let next = program; next !== undefined;) {
    innermost = next;
    next = childAround(next, start, end);
  }
  return innermost && enclosingFunction(innermost);
}

function childAround(node: Node, start: number, end: number): Node | undefined {
  for (const [key, value] of Object.entries(node)) {
    if (key === 'parent') continue;
    for (const each of Array.isArray(value) ? (value as unknown[]) : [value]) {
      const child = each as Partial<Node> | null;
      if (typeof child?.type !== 'string' || child.start === undefined) continue;
      if (child.start <= start && end <= child.end!) return child as Node;
    }
  }
  return undefined;
}

/** Undefined where no profile can show it. */
function isOnPath(
  { seen }: Examined,
  fn: Node | undefined,
  functions: ObservedFunctions,
): boolean | undefined {
  if (seen === undefined) return undefined;
  if ('packages' in seen) return false;
  // Where no function is known by its place, nothing can be said of one.
  if (fn === undefined || functions.nodes.size === 0) return undefined;
  return functions.nodes.has(fn);
}

let ids = 0;
const idOf = new WeakMap<Node, number>();

function keyOf(fn: Node, name: string): string {
  const id = idOf.get(fn) ?? ++ids;
  idOf.set(fn, id);
  return `${id}:${name}`;
}

/** The most expensive first; then what cannot be measured, the surest first; what the load did not touch last. */
function byWeight(a: Finding, b: Finding, hot: readonly Finding[]): number {
  return (
    weightOf(b, hot) - weightOf(a, hot) ||
    Number(a.isOnMeasuredPath === false) - Number(b.isOnMeasuredPath === false) ||
    ofSure[a.sure] - ofSure[b.sure]
  );
}

/** Advice about the line of a hot function comes after what that function does, which has the same time. */
function weightOf({ file, line, cost }: Finding, hot: readonly Finding[]): number {
  const own = cost?.microsPerRequest ?? 0;
  const around = hot.find((one) => one.file === file && one.line === line);
  return Math.min(own, around?.cost?.microsPerRequest ?? own);
}
