import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { CallNode, CallTree, Frame } from '../../profile/call-tree.ts';
import type { CpuProfile } from '../../profile/cpu-profile.ts';
import { keyOf } from '../../profile/functions.ts';
import type { SourceMaps } from '../../profile/source-maps.ts';
import { percent } from '../../report/format.ts';
import type { SeenCall } from './blocked.ts';
import { pathOf } from './observed-functions.ts';

/** A function of the app and the builtins it runs, without what has a function of its own. */
interface Hot {
  frame: Frame;
  samples: number;
  /** Builtins on top of the stack, by name. */
  builtins: Map<string, number>;
}

/** Below it a function is one of many, and not where the time is. */
const minShare = 0.15;
/** A builtin with so much of a function's time is its cause. */
const mainShare = 0.4;
const maxPattern = 80;
const maxExcerpt = 160;

export interface HotOptions {
  maps: SourceMaps;
  folder: string;
  /** The line with the most ticks of a function, by the key of its frame. */
  lines: ReadonlyMap<string, number>;
  /** Whether findings explain most of it already. */
  isExplained(frame: Frame, samples: number): boolean;
}

/**
 * The functions of the app that hold the time, whether or not a rule knows them: each with its line and its share of the time
 * in which the main thread was busy.
 */
export function hotFunctions(tree: CallTree, options: HotOptions): SeenCall[] {
  return [...collect(tree).values()]
    .filter(({ samples }) => samples >= tree.samples * minShare)
    .toSorted((a, b) => b.samples - a.samples)
    .flatMap((hot) => {
      if (options.isExplained(hot.frame, hot.samples)) return [];
      const place = placeOf(hot.frame, options);
      return place === undefined ? [] : [findingOf(hot, place, tree)];
    });
}

/** Where each function spent most ticks: V8 counts them by line. */
export function hottestLines({ nodes }: CpuProfile): Map<string, number> {
  const ticks = new Map<string, Map<number, number>>();
  for (const { callFrame, positionTicks = [] } of nodes) {
    const { functionName, url, lineNumber, columnNumber } = callFrame;
    const key = keyOf({
      name: functionName || '(anonymous)',
      url,
      line: lineNumber + 1,
      column: columnNumber + 1,
      owner: 'app',
    });
    const own = ticks.get(key) ?? new Map<number, number>();
    ticks.set(key, own);
    for (const { line, ticks: count } of positionTicks) own.set(line, (own.get(line) ?? 0) + count);
  }
  return new Map(
    [...ticks].flatMap(([key, own]) => {
      const [first] = [...own].toSorted(([, a], [, b]) => b - a);
      return first === undefined ? [] : [[key, first[0]] as const];
    }),
  );
}

function collect(tree: CallTree): Map<string, Hot> {
  const found = new Map<string, Hot>();
  const visit = (node: CallNode, caller: Hot | undefined): void => {
    const { frame } = node;
    let hot = caller;
    if (frame.url !== '') hot = frame.owner === 'app' ? hotOf(found, frame) : undefined;
    // The collector runs on top of any function; JSON has a finding of its own.
    else if (frame.name.startsWith('(') || frame.name.startsWith('JSON.')) hot = undefined;
    if (hot !== undefined && node.self > 0) {
      hot.samples += node.self;
      if (frame.url === '')
        hot.builtins.set(frame.name, (hot.builtins.get(frame.name) ?? 0) + node.self);
    }
    for (const child of node.children) visit(child, hot);
  };
  visit(tree.root, undefined);
  return found;
}

function hotOf(found: Map<string, Hot>, frame: Frame): Hot {
  const key = keyOf(frame);
  const known = found.get(key) ?? { frame, samples: 0, builtins: new Map<string, number>() };
  found.set(key, known);
  return known;
}

interface HotPlace {
  file: string;
  line: number;
  column: number;
  excerpt: string;
}

function findingOf(hot: Hot, place: HotPlace, tree: CallTree): SeenCall {
  const { frame, samples } = hot;
  const name = frame.name === '(anonymous)' ? 'This function' : frame.name;
  const { cause, how } = causeOf(hot, place.excerpt);
  return {
    samples,
    edits: [],
    finding: {
      rule: 'hot-function',
      title: 'the function with the time',
      ...place,
      sure: 'certain',
      why: `${name} has ${percent(samples / tree.samples)} of the time in which the main thread was busy, the builtins it runs included${cause}. The line is the one with most of it.`,
      how,
      diff: '',
      isOnMeasuredPath: true,
    },
  };
}

/** What the time is spent on, as far as a frame or the line says so, and the usual change. */
function causeOf({ builtins, samples }: Hot, line: string): { cause: string; how: string } {
  const [name, own] = [...builtins].toSorted(([, a], [, b]) => b - a)[0] ?? ['', 0];
  const isMain = own >= samples * mainShare;
  if (isMain && name.startsWith('RegExp: ')) {
    const pattern = name.slice('RegExp: '.length);
    const shown = pattern.length > maxPattern ? `${pattern.slice(0, maxPattern)}…` : pattern;
    return {
      cause: `, ${percent(own / samples)} of it in the regular expression /${shown}/`,
      how: /[+*}][^()]*\)[+*{]/.test(pattern)
        ? 'Write the expression without a repetition inside of a repetition, which tries exponentially many ways, and limit the length of what it reads.'
        : 'Test something cheaper before it, such as a length or a prefix, or read the text by hand.',
    };
  }
  if (byLocale.test(line)) {
    return {
      cause: ', on a line that formats or compares by locale',
      how: 'Make one Intl.NumberFormat, DateTimeFormat or Collator outside of the function and use its format or compare: each call by name makes or looks up one.',
    };
  }
  if (/\bnew RegExp\(/.test(line)) {
    return {
      cause: ', on a line that makes a regular expression',
      how: 'Make the expression once, outside of the function.',
    };
  }
  if (/\.sort\(|\.toSorted\(/.test(line) || (isMain && name === 'sort')) {
    return {
      cause: ', on a line that sorts',
      how: 'Keep the list sorted, or sort only what is sent.',
    };
  }
  return {
    cause: isMain ? `, ${percent(own / samples)} of it in ${name}` : '',
    how: 'Do less in it: fewer items, once for several requests, or not on the path of a request. redline flame shows what is below it, redline advise which lines would gain.',
  };
}

/** V8 may give the head of a loop the ticks of its body: then a call in the lines below it is what costs. */
function causingLine(lines: readonly string[], hottest: number): number {
  if (!/\b(?:for|while)\s*\(|\.(?:map|forEach|filter|reduce)\(/.test(lines[hottest - 1] ?? ''))
    return hottest;
  const at = lines.slice(hottest - 1, hottest + 3).findIndex((line) => byLocale.test(line));
  return at < 0 ? hottest : hottest + at;
}

const byLocale = /\bIntl\.|\.toLocale(?:|Date|Time|Upper|Lower)\w*\(|\.localeCompare\(/;

function placeOf(frame: Frame, { maps, folder, lines }: HotOptions): HotPlace | undefined {
  const hottest = lines.get(keyOf(frame));
  const isInside = hottest !== undefined && hottest > frame.line;
  const place = maps.original({
    url: frame.url,
    line: isInside ? hottest : frame.line,
    column: isInside ? 1 : frame.column,
  });
  const path = pathOf(place.url);
  try {
    const all = readFileSync(path, 'utf8').split('\n');
    const line = isInside ? causingLine(all, place.line) : place.line;
    const text = all[line - 1];
    if (text === undefined) return undefined;
    const column = isInside ? text.length - text.trimStart().length + 1 : place.column;
    return {
      file: relative(folder, path),
      line,
      column,
      excerpt: text.trim().slice(0, maxExcerpt),
    };
  } catch {
    return undefined;
  }
}
