import { relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import plugin from '@redline/eslint-plugin';
import { type Evidence, majorOf, type Measurement, pays, paysOn } from '@redline/eslint-plugin';
import type { CallNode, CallTree } from '../profile/call-tree.ts';
import { hotShare } from '../profile/functions.ts';
import { type Owner, ownerOfUrl } from '../profile/owner.ts';
import type { SourceMaps } from '../profile/source-maps.ts';
import { type Hit, type LintedScript, lintScript, type Range } from './lint-script.ts';
import type { Advice, AdviseResult } from './result.ts';

export interface AdviseOptions {
  /** Major version of Node whose gains count. */
  major: number;
  evidence: ReadonlyMap<string, Evidence>;
  /** Limits the advice to these files and folders; no limit when empty. */
  files: readonly string[];
  maps: SourceMaps;
  /** Places are given relative to this folder. */
  folder: string;
}

type Found = Pick<AdviseResult, 'advice' | 'leftOut' | 'unread'>;

/** Finds rule hits in functions with at least 1 % of the samples, as far as the rules gain on this Node. */
export function findAdvice(tree: CallTree, options: AdviseOptions): Found {
  const advice: Advice[] = [];
  const unread: Found['unread'] = [];
  const leftOut = new Map<string, number>();
  for (const [url, functions] of ownTimes(tree)) {
    const owner = ownerOfUrl(url);
    const own = functions.reduce((sum, each) => sum + each.own, 0);
    if (own < tree.samples * hotShare || !isAsked(url, owner, options)) continue;
    let script: LintedScript;
    try {
      script = lintScript(url);
    } catch (error) {
      unread.push({ url, why: (error as Error).message.split('\n', 1)[0]! });
      continue;
    }
    const samplesOf = samplesByFunction(script, functions);
    for (const hit of script.hits) {
      const at = innermost(script.functions, hit.start);
      const hot = at && samplesOf.get(at);
      if (!hot || hot.samples < tree.samples * hotShare) continue;
      const gain = gainOf(options.evidence.get(hit.rule), options.major);
      if (!gain) {
        leftOut.set(hit.rule, (leftOut.get(hit.rule) ?? 0) + 1);
        continue;
      }
      const { changesResult } = options.evidence.get(hit.rule)!;
      const source = options.maps.original({ url, line: hit.line, column: hit.column });
      advice.push({
        rule: hit.rule,
        text: plugin.rules[hit.rule]!.meta!.docs!.description!,
        ...(changesResult !== undefined && { changesResult }),
        file: placeOf(source.url, options.folder),
        line: source.line,
        column: source.column,
        function: hot.name,
        share: hot.samples / tree.samples,
        gain: { ...gain.ratio, node: gain.node },
        code: hit.code,
        ...(hit.rewrite && { rewrite: rewriteOf(hit.rewrite, source.url === url) }),
      });
    }
  }
  advice.sort((a, b) => b.share - a.share || b.gain.value - a.gain.value || a.line - b.line);
  const why = `not shown to gain on Node ${options.major}`;
  return {
    advice,
    unread,
    leftOut: [...leftOut].map(([rule, hits]) => ({ rule, hits, why })),
  };
}

/** The place of a rewrite is known only if the script is the source itself. */
function rewriteOf(
  { text, isSafe, start, end }: NonNullable<Hit['rewrite']>,
  isSource: boolean,
): NonNullable<Advice['rewrite']> {
  return { text, isSafe, ...(isSource ? { at: { start, end } } : {}) };
}

/** Returns the measurement on this major, or on the nearest one if its neighbours agree that the rule pays. */
function gainOf(evidence: Evidence | undefined, major: number): Measurement | undefined {
  if (!evidence || !paysOn(evidence, major)) return undefined;
  const distance = (each: Measurement): number => Math.abs(majorOf(each) - major);
  return evidence.measurements.filter(pays).toSorted((a, b) => distance(a) - distance(b))[0];
}

/** Counts the samples of each function of a script, including those of the functions written inside it. */
function samplesByFunction(
  script: LintedScript,
  functions: readonly OwnTime[],
): Map<Range, { name: string; samples: number }> {
  const samples = new Map<Range, { name: string; samples: number }>();
  for (const { name, line, column, own } of functions) {
    const at = script.offsetOf(line, column);
    const isInside = (range: Range): boolean => range.start <= at && at < range.end;
    const innermostOne = innermost(script.functions, at);
    for (const range of script.functions.filter(isInside)) {
      const known = samples.get(range) ?? { name: '(anonymous)', samples: 0 };
      known.samples += own;
      if (range === innermostOne) known.name = name;
      samples.set(range, known);
    }
  }
  return samples;
}

function innermost(functions: readonly Range[], at: number): Range | undefined {
  let found: Range | undefined;
  for (const range of functions) {
    const holds = range.start <= at && at < range.end;
    if (holds && (!found || range.end - range.start < found.end - found.start)) found = range;
  }
  return found;
}

/** Returns true for the app's own code; for that of packages only if a file or folder of it is named. */
function isAsked(url: string, owner: Owner, { files, maps }: AdviseOptions): boolean {
  if (owner !== 'app' && owner !== 'deps') return false;
  if (files.length === 0) return owner === 'app';
  const places = [url, maps.original({ url, line: 1, column: 1 }).url].map(pathOf);
  return files.some((file) => {
    const asked = resolve(file);
    return places.some((place) => place === asked || place.startsWith(asked + sep));
  });
}

function placeOf(url: string, folder: string): string {
  const path = pathOf(url);
  const near = relative(folder, path);
  return near.startsWith(`..${sep}..`) ? path : near;
}

function pathOf(url: string): string {
  return url.startsWith('file://') ? fileURLToPath(url) : url;
}

/** The position of a function in its script, as V8 reports it, and its own samples. */
interface OwnTime {
  name: string;
  /** From 1. */
  line: number;
  column: number;
  /** Samples with the function on top, or a builtin that it called: `split` is a cost of its caller. */
  own: number;
}

/** Returns the own times of all functions with source, by script URL. */
function ownTimes(tree: CallTree): Map<string, OwnTime[]> {
  const scripts = new Map<string, Map<string, OwnTime>>();
  const visit = (node: CallNode, caller: OwnTime | undefined): void => {
    const { name, url, line, column } = node.frame;
    let owner = caller;
    if (url !== '') {
      const script = scripts.get(url) ?? new Map<string, OwnTime>();
      scripts.set(url, script);
      const key = `${line}:${column}`;
      owner = script.get(key) ?? { name, line, column, own: 0 };
      script.set(key, owner);
    }
    // The garbage collector runs at arbitrary times, under the function that made the last object.
    if (owner && name !== '(garbage collector)') owner.own += node.self;
    for (const child of node.children) visit(child, owner);
  };
  visit(tree.root, undefined);
  return new Map([...scripts].map(([url, functions]) => [url, [...functions.values()]]));
}
