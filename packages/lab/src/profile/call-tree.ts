import { type CallFrame, type CpuProfile, parentsOf, type ProfileNode } from './cpu-profile.ts';
import type { Bailout } from './v8/code-trace.ts';
import type { CompiledCode } from './v8/jit-dump.ts';
import { type Owner, ownerOfFrame } from './owner.ts';
import { isOptimised, type Tier } from './tiers.ts';
import { type Code, TierHistory } from './v8/tier-history.ts';
import type { CodeEvent } from './v8/v8-log.ts';

/** A function seen on the stack. */
export interface Frame {
  name: string;
  /** Name of the script in V8; empty for builtins and for everything that is not a function. */
  url: string;
  /** From 1; 0 without source. */
  line: number;
  column: number;
  owner: Owner;
}

export type TierCounts = Partial<Record<Tier, number>>;

/** A frame under one particular chain of callers. */
export interface CallNode {
  frame: Frame;
  /** Samples with this frame on the stack. */
  total: number;
  /** Samples with it on top. */
  self: number;
  /** Tiers of the frame in the samples of `total`. Samples without a known tier are missing. */
  tiers: TierCounts;
  /** Likewise in the samples of `self`. */
  selfTiers: TierCounts;
  children: CallNode[];
}

export interface CallTree {
  root: CallNode;
  samples: number;
  /** Samples in which the thread waited for events. They are in no node. */
  idleSamples: number;
  seconds: number;
  /** Samples of frames with JavaScript source, and how many of them have a known tier. */
  javaScript: { frames: number; known: number };
}

/** V8's log, and the start of the profile on its clock. */
interface TierSource {
  events: readonly CodeEvent[];
  /** Microseconds of the log's clock at the profile's `startTime`. */
  startMicros: number;
  /** V8's work while the profile was taken, when its log is silent; absent if it is unknown. */
  during?: TiersDuring | undefined;
}

/** Times are on the profile's own clock. */
export interface TiersDuring {
  /** The code that existed when the profile began. */
  existing: readonly CompiledCode[];
  /** In order of time. */
  changes: readonly (CompiledCode | Bailout)[];
}

/** Merges the samples into one tree, each frame with the tiers it ran in at the times it was seen. */
export function buildCallTree(profile: CpuProfile, source?: TierSource): CallTree {
  const paths = new Paths(profile);
  const history = new TierHistory();
  const events = source?.events ?? [];
  const { existing, changes } = source?.during ?? { existing: undefined, changes: [] };
  let applied = 0;
  let changed = 0;
  let micros = source?.startMicros ?? 0;
  if (existing !== undefined) {
    // The log is silent during the profile, so only its earlier events count.
    for (const event of events) if (timeOf(event) <= micros) history.apply(event);
    applied = events.length;
    history.restart(existing);
    micros = profile.startTime;
  }
  const tree = emptyTree((profile.endTime - profile.startTime) / 1e6);
  for (const [index, id] of profile.samples.entries()) {
    micros += profile.timeDeltas[index] ?? 0;
    while (applied < events.length && timeOf(events[applied]!) <= micros) {
      history.apply(events[applied++]!);
    }
    while (changed < changes.length && changes[changed]!.micros <= micros) {
      const change = changes[changed++]!;
      if (change.type === 'compiled') history.compiled(change);
      else history.bailout(change);
    }
    const path = paths.of(id);
    if (path.isIdle) tree.idleSamples++;
    else count(tree, path.frames, history);
  }
  return finishTree(tree);
}

export function emptyTree(seconds: number): CallTree {
  return {
    root: node({ name: '(all)', url: '', line: 0, column: 0, owner: 'v8' }),
    samples: 0,
    idleSamples: 0,
    seconds,
    javaScript: { frames: 0, known: 0 },
  };
}

/** Must be called after the last sample. */
export function finishTree(tree: CallTree): CallTree {
  tree.samples = tree.root.total;
  sortHeaviestFirst(tree.root);
  return tree;
}

/** A frame and the tier it was in at that moment. */
export interface Step {
  frame: Frame;
  tier: Tier | undefined;
}

/** Adds one sample, from the outermost frame to the one on top. */
export function addSample(tree: CallTree, steps: readonly Step[]): void {
  let at = tree.root;
  at.total++;
  for (const { frame, tier } of steps) {
    at = childOf(at, frame);
    at.total++;
    if (tier !== undefined) at.tiers[tier] = (at.tiers[tier] ?? 0) + 1;
    if (frame.url === '' || frame.url.startsWith('wasm:')) continue;
    tree.javaScript.frames++;
    if (tier !== undefined) tree.javaScript.known++;
  }
  at.self++;
  const tier = steps.at(-1)?.tier;
  if (tier !== undefined) at.selfTiers[tier] = (at.selfTiers[tier] ?? 0) + 1;
}

/** Returns 0 for events without a time of their own, which belong to the one before them. */
function timeOf(event: CodeEvent): number {
  return 'micros' in event ? event.micros : 0;
}

interface Path {
  frames: Frame[];
  isIdle: boolean;
}

/** Root-to-leaf frames of each node of a profile. */
class Paths {
  readonly #parents: Map<number, ProfileNode>;
  readonly #nodes: Map<number, ProfileNode>;
  readonly #known = new Map<number, Path>();

  constructor(profile: CpuProfile) {
    this.#parents = parentsOf(profile);
    this.#nodes = new Map(profile.nodes.map((each) => [each.id, each]));
  }

  of(id: number): Path {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const path = this.#trace(this.#nodes.get(id));
    this.#known.set(id, path);
    return path;
  }

  #trace(profileNode: ProfileNode | undefined): Path {
    if (profileNode === undefined) return { frames: [], isIdle: false };
    const { callFrame, id } = profileNode;
    if (callFrame.functionName === '(root)') return { frames: [], isIdle: false };
    const parent = this.#parents.get(id);
    const above = parent === undefined ? [] : this.of(parent.id).frames;
    const isIdle = callFrame.functionName === '(idle)';
    return { frames: [...above, toFrame(callFrame, above.at(-1)?.owner)], isIdle };
  }
}

function toFrame(callFrame: CallFrame, caller: Owner | undefined): Frame {
  return {
    name: callFrame.functionName || '(anonymous)',
    url: callFrame.url,
    line: callFrame.lineNumber + 1,
    column: callFrame.columnNumber + 1,
    owner: ownerOfFrame(callFrame, caller),
  };
}

function count(tree: CallTree, frames: readonly Frame[], history: TierHistory): void {
  let inlinedBy: Code | undefined;
  const steps = frames.map((frame) => {
    const known = frame.url === '' ? undefined : history.of(frame);
    if (known !== undefined && inlinedBy?.inlined.has(known)) {
      return { frame, tier: inlinedBy.tier };
    }
    const tier = known?.tier;
    inlinedBy = tier !== undefined && isOptimised(tier) ? known?.code : undefined;
    return { frame, tier };
  });
  addSample(tree, steps);
}

/** Finds or adds a child. V8 separates a function by what it was inlined into; here it is one. */
function childOf(parent: CallNode, frame: Frame): CallNode {
  const found = parent.children.find(
    ({ frame: other }) =>
      other.name === frame.name &&
      other.line === frame.line &&
      other.column === frame.column &&
      other.url === frame.url,
  );
  if (found !== undefined) return found;
  const child = node(frame);
  parent.children.push(child);
  return child;
}

function node(frame: Frame): CallNode {
  return { frame, total: 0, self: 0, tiers: {}, selfTiers: {}, children: [] };
}

function sortHeaviestFirst(parent: CallNode): void {
  parent.children.sort((a, b) => b.total - a.total || a.frame.name.localeCompare(b.frame.name));
  for (const child of parent.children) sortHeaviestFirst(child);
}

/** Converts a call tree to a `.cpuprofile`, for other viewers. The samples of a frame are grouped: their order is not kept. */
export function toCpuProfile(tree: CallTree): CpuProfile {
  const nodes: ProfileNode[] = [];
  const samples: number[] = [];
  const visit = ({ frame, self, children }: CallNode): number => {
    const id = nodes.length + 1;
    const profiled: ProfileNode = {
      id,
      callFrame: {
        functionName: id === 1 ? '(root)' : frame.name,
        url: frame.url,
        lineNumber: frame.line - 1,
        columnNumber: frame.column - 1,
      },
    };
    nodes.push(profiled);
    for (let sample = 0; sample < self; sample++) samples.push(id);
    profiled.children = children.map(visit);
    return id;
  };
  visit(tree.root);
  const micros = Math.round((tree.seconds * 1e6) / Math.max(1, samples.length));
  return {
    nodes,
    samples,
    timeDeltas: samples.map(() => micros),
    startTime: 0,
    endTime: micros * samples.length,
  };
}
