import { at, nameOf, type Node } from '../../doctor/syntax/node.ts';
import { ownerOfUrl } from '../../profile/owner.ts';
import type { Position } from '../../profile/source-maps.ts';
import type { AllocatingFunction, HeapGraph, ScriptPlace } from '../snapshot/heap-graph.ts';
import {
  callOf,
  functionAround,
  type Growing,
  growingNode,
  isBetter,
  pointOf,
} from './growing-line.ts';
import type { ScriptSource, ScriptSources } from './script-source.ts';
import type { Survivors } from './survivors.ts';

/** A line of the app, with its part in keeping the objects. */
export interface Located {
  position: Position;
  /** The line itself. */
  text: string;
  /**
   * `adds`: adds to the name that keeps the objects. `function`: the function that is kept begins here. `calls`: calls a package or
   * Node, which allocates and keeps them. `allocates`: the function that allocates begins here.
   */
  how: 'adds' | 'function' | 'calls' | 'allocates';
  /** The function of the app it is in; empty at the top of a file. */
  functionName: string;
}

/** Finds the line of the app that keeps objects; undefined if no code of the app is involved. */
export async function locate(
  graph: HeapGraph,
  survivors: Survivors,
  sources: ScriptSources,
): Promise<Located | undefined> {
  const names = namesOf(survivors);
  const frames = survivors.stacks.flatMap(({ functions }) => ownFrames(functions));
  const inFrames = await inFunctions(frames, names, sources);
  return (
    certain(inFrames) ??
    certain(await inHolders(graph, survivors, names, sources)) ??
    (await keptFunction(graph, survivors, sources)) ??
    inFrames?.located ??
    (await lastCall(frames, sources))
  );
}

interface Candidate extends Growing {
  located: Located;
}

/** Rejects a name that is only an argument, because it may or may not be kept. */
function certain(found: Candidate | undefined): Located | undefined {
  return found !== undefined && found.strength > 1 ? found.located : undefined;
}

/** Returns the variables and properties on the path to the objects, from the inside out. */
function namesOf({ path }: Survivors): string[] {
  return path
    .map(({ label }) => label.replace(/^#/, ''))
    .filter((label) => /^[\p{L}_$][\w$]*$/u.test(label) && !inherited.has(label))
    .toReversed();
}

/** Names common to all programs. */
const inherited = new Set([
  '__proto__',
  'constructor',
  'prototype',
  'exports',
  'value',
  'next',
  'global',
]);

interface OwnFrame extends AllocatingFunction {
  /** The function it called on the way to the allocation; undefined if it allocated itself. */
  callee: string | undefined;
}

/** Returns the functions of the app, innermost first. */
function ownFrames(functions: readonly AllocatingFunction[]): OwnFrame[] {
  return functions.flatMap((each, index) =>
    each.url !== '' && ownerOfUrl(each.url) === 'app'
      ? [{ ...each, callee: functions[index - 1]?.name }]
      : [],
  );
}

async function inFunctions(
  frames: readonly OwnFrame[],
  names: readonly string[],
  sources: ScriptSources,
): Promise<Candidate | undefined> {
  let best: Candidate | undefined;
  for (const frame of frames) {
    const found = await scopeOf(frame, sources);
    const grown = found && growingNode(found.scope, names);
    if (grown === undefined || !isBetter(grown, best)) continue;
    best = { ...grown, located: located(found!.source, grown.node, 'adds', frame.name) };
  }
  return best;
}

/** Searches whole scripts: those of functions whose scope or class is on the path, the innermost first. */
async function inHolders(
  graph: HeapGraph,
  { nodes }: Survivors,
  names: readonly string[],
  sources: ScriptSources,
): Promise<Candidate | undefined> {
  const scripts = nodes
    .toReversed()
    .map((node) => graph.places.get(node)?.scriptId ?? 0)
    .filter((scriptId) => sources.isOfApp(scriptId));
  let best: Candidate | undefined;
  for (const scriptId of new Set(scripts)) {
    const source = await sources.get(scriptId);
    const grown = source?.tree && growingNode(source.tree, names);
    if (!grown || !isBetter(grown, best)) continue;
    const around = functionAround(source!.tree!, grown.node.start);
    best = { ...grown, located: located(source!, grown.node, 'adds', nameOfFunction(around)) };
  }
  return best;
}

function nameOfFunction(node: Node | undefined): string {
  return nameOf(at(node, 'id')) ?? nameOf(at(node, 'key')) ?? '';
}

/** Max objects to visit in search of a function. */
const maxVisited = 200;

/** Finds the place of a function that is kept: a listener, a timer, a callback. */
async function keptFunction(
  graph: HeapGraph,
  { example }: Survivors,
  sources: ScriptSources,
): Promise<Located | undefined> {
  const queue = [example];
  for (const node of queue) {
    const place = graph.typeOf(node) === 'closure' ? graph.places.get(node) : undefined;
    if (place !== undefined && sources.isOfApp(place.scriptId)) {
      const source = await sources.get(place.scriptId);
      if (source !== undefined) return atPlace(source, place, 'function', graph.nameOf(node));
    }
    if (queue.length > maxVisited) continue;
    for (let edge = graph.firstEdge[node]!; edge < graph.firstEdge[node + 1]!; edge++) {
      const to = graph.edgeTo[edge]!;
      const kind = graph.edgeKind(edge);
      const isNew = graph.trace[to] !== 0;
      if (isNew && kind !== 'weak' && !queue.includes(to)) queue.push(to);
    }
  }
  return undefined;
}

async function lastCall(
  frames: readonly OwnFrame[],
  sources: ScriptSources,
): Promise<Located | undefined> {
  for (const frame of frames) {
    const found = await scopeOf(frame, sources);
    if (found === undefined) continue;
    const call = frame.callee === undefined ? undefined : callOf(found.scope, frame.callee);
    if (call !== undefined) return located(found.source, call, 'calls', frame.name);
    return atPlace(found.source, frame, 'allocates', frame.name);
  }
  return undefined;
}

async function scopeOf(
  { scriptId, line, column }: AllocatingFunction,
  sources: ScriptSources,
): Promise<{ source: ScriptSource; scope: Node } | undefined> {
  const source = await sources.get(scriptId);
  if (source?.tree === undefined) return undefined;
  const scope = functionAround(source.tree, source.offsetOf({ line, column }));
  return { source, scope: scope ?? source.tree };
}

function located(
  source: ScriptSource,
  node: Node,
  how: Located['how'],
  functionName: string,
): Located {
  const start = pointOf(node);
  return { position: source.positionAt(start), text: source.lineAt(start), how, functionName };
}

function atPlace(
  source: ScriptSource,
  place: Pick<ScriptPlace, 'line' | 'column'>,
  how: Located['how'],
  functionName: string,
): Located {
  const offset = source.offsetOf(place);
  return { position: source.positionAt(offset), text: source.lineAt(offset), how, functionName };
}
