import { resolve } from 'node:path';
import type { CallsSummary } from '../../calls-out/result.ts';
import type { CallNode, CallTree, Frame } from '../../profile/call-tree.ts';
import type { SourceMaps } from '../../profile/source-maps.ts';
import type { App } from '../app/app.ts';
import { type Candidate, examine, type Examined } from '../examine.ts';
import type { Cost, Finding } from '../result.ts';
import { jsonClone } from '../rules/json-clone.ts';
import { enclosingFunction, type Node } from '../syntax/node.ts';
import { RequestPath } from '../syntax/request-path.ts';
import type { SourceFile } from '../syntax/source-file.ts';
import type { Seen } from '../rules/rule.ts';
import { blockedCalls, jsonCalls, type SeenCall } from './blocked.ts';
import { hotFunctions } from './hot-functions.ts';
import { hotPackages } from './hot-packages.ts';
import { ObservedFunctions } from './observed-functions.ts';
import { withWaits } from './waiting-calls.ts';

interface Profiled {
  tree: CallTree;
  lines: ReadonlyMap<string, number>;
  microsPerSample: number;
  maps: SourceMaps;
  calls: CallsSummary | undefined;
  /** Findings of the rules for hot functions. */
  advice: readonly SeenCall[];
}

const ofSure: Record<Finding['sure'], number> = { certain: 0, likely: 1, hint: 2 };

/**
 * Returns the findings of the rules for a profiled app, each with its cost. Code that ran under the load counts as the path of a
 * request, however it got there.
 */
export function withCosts(
  read: App,
  { tree, lines, microsPerSample, maps, calls, advice }: Profiled,
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
  // The time of a hot function excludes JSON and synchronous calls.
  const isExplained = (frame: Frame, samples: number): boolean => {
    const fn = functions.of(frame);
    return found.some(({ finding: { rule, file, line, cost } }) => {
      if (rule === jsonClone.id) return false;
      if (fn === undefined || cost === undefined || resolve(app.folder, file) !== fn.file.path)
        return false;
      const isInside =
        fn.file.placeOf(fn.node.start).line <= line && line <= fn.file.placeOf(fn.node.end).line;
      return isInside && cost.share * tree.samples >= samples / 2;
    });
  };
  const hot = [
    ...hotFunctions(tree, { maps, folder: app.folder, lines, isExplained }),
    ...hotPackages(tree, app, functions),
  ].map(toCandidate);
  const costly = [...hot, ...found].map(({ finding }) => finding);
  const advised = advice.map(toCandidate);
  const ofAdvice = new Set(advised.map(({ finding }) => finding));
  const weightOf = (finding: Finding): number =>
    ofAdvice.has(finding) ? weightOfAdvice(finding, costly) : ownWeight(finding);
  const all = withWaits([...hot, ...found, ...seen, ...advised], calls, app.folder);
  const candidates = all.toSorted((a, b) => byWeight(a.finding, b.finding, weightOf));
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

/** Undefined if no profile can show it. */
function isOnPath(
  { seen }: Examined,
  fn: Node | undefined,
  functions: ObservedFunctions,
): boolean | undefined {
  if (seen === undefined) return undefined;
  if ('packages' in seen) return false;
  // If no function was matched by position, the profile says nothing about this one.
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

/**
 * Sorts the most expensive findings first; then those that cannot be measured, the surest first; those outside the load's path
 * last.
 */
function byWeight(a: Finding, b: Finding, weightOf: (finding: Finding) => number): number {
  return (
    weightOf(b) - weightOf(a) ||
    Number(a.isOnMeasuredPath === false) - Number(b.isOnMeasuredPath === false) ||
    ofSure[a.sure] - ofSure[b.sure]
  );
}

function ownWeight({ cost, waits }: Finding): number {
  const micros = waits === undefined ? 0 : (waits.ms + waits.cpuMs) * 1_000;
  return Math.max(cost?.microsPerRequest ?? 0, micros);
}

/** Sorts advice, whose time is that of its function, after a finding on the same line that has a cost. */
function weightOfAdvice(finding: Finding, costly: readonly Finding[]): number {
  const own = ownWeight(finding);
  const around = costly.find(
    ({ file, line, cost }) => file === finding.file && line === finding.line && cost !== undefined,
  );
  return Math.min(own, around?.cost?.microsPerRequest ?? own);
}

/** Counts samples in calls of these names made by a function of the app, directly or through code outside the app. */
function samplesInCalls(
  tree: CallTree,
  functions: ObservedFunctions,
  fn: Node,
  names: readonly string[],
): number {
  const isNamed = ({ frame }: CallNode): boolean =>
    names.some((name) => frame.name === name || frame.name.endsWith(`.${name}`));
  const below = (node: CallNode): number =>
    node.children.reduce((sum, child) => {
      // Calls in another function of the app are attributed to that function.
      if (functions.of(child.frame) !== undefined) return sum;
      return sum + (isNamed(child) ? child.total : below(child));
    }, 0);
  const visit = (node: CallNode): number => {
    const own = functions.of(node.frame)?.node === fn ? below(node) : 0;
    return node.children.reduce((sum, child) => sum + visit(child), own);
  };
  return visit(tree.root);
}

/** Counts samples whose own time belongs to a package or a module of Node: its functions, and the builtins they call. */
function samplesInPackages(tree: CallTree, packages: readonly string[]): number {
  const isTheirs = (url: string): boolean =>
    packages.some((name) =>
      name.startsWith('node:') ? url.startsWith(name) : url.includes(`/node_modules/${name}/`),
    );
  const visit = (node: CallNode, caller: boolean): number => {
    const { url, name } = node.frame;
    const isOurs = url === '' ? caller && name !== '(garbage collector)' : isTheirs(url);
    return node.children.reduce((sum, child) => sum + visit(child, isOurs), isOurs ? node.self : 0);
  };
  return visit(tree.root, false);
}

/** Counts samples with a function of the app on the stack. */
function samplesWith(tree: CallTree, functions: ObservedFunctions, fn: Node): number {
  const visit = (node: CallNode): number =>
    functions.of(node.frame)?.node === fn
      ? node.total
      : node.children.reduce((sum, child) => sum + visit(child), 0);
  return visit(tree.root);
}

function samplesOf(
  tree: CallTree,
  functions: ObservedFunctions,
  seen: Seen,
  fn: Node | undefined,
): number | undefined {
  if ('packages' in seen) return samplesInPackages(tree, seen.packages);
  if ('itself' in seen) return samplesWith(tree, functions, seen.itself);
  return fn && samplesInCalls(tree, functions, fn, seen.calls);
}
