import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { CallNode, CallTree, Frame } from '../../profile/call-tree.ts';
import { keyOf } from '../../profile/functions.ts';
import type { SourceMaps } from '../../profile/source-maps.ts';
import { percent } from '../../report/format.ts';
import { sourceOfRegExp } from '../../profile/reg-exp-names.ts';
import type { SeenCall } from './blocked.ts';
import { pathOf } from './observed-functions.ts';

/** A function of the app and the builtins it runs, without other functions it calls. */
interface Hot {
  frame: Frame;
  samples: number;
  /** Samples in builtins at the top of the stack, by name. */
  builtins: Map<string, number>;
}

/** Below this share a function is one of many, and does not dominate the time. */
const minShare = 0.15;
const maxExcerpt = 160;
/** Max length searched: the profile does not contain a function's end. */
const maxFunctionLines = 100;

interface HotOptions {
  maps: SourceMaps;
  folder: string;
  /** Line with the most ticks of a function, by the key of its frame. */
  lines: ReadonlyMap<string, number>;
  /** True if findings already explain most of it. */
  isExplained(frame: Frame, samples: number): boolean;
}

/**
 * Finds the functions of the app that take the most time, whether or not a rule matches: each with its line and its share of the
 * time in which the thread was busy.
 */
export function hotFunctions(tree: CallTree, options: HotOptions): SeenCall[] {
  return [...collect(tree).values()]
    .filter(({ samples }) => samples >= tree.samples * minShare)
    .toSorted((a, b) => b.samples - a.samples)
    .flatMap((hot) => {
      if (options.isExplained(hot.frame, hot.samples)) return [];
      const place = placeOf(hot, options);
      return place === undefined ? [] : [findingOf(hot, place, tree)];
    });
}

function collect(tree: CallTree): Map<string, Hot> {
  const found = new Map<string, Hot>();
  const visit = (node: CallNode, caller: Hot | undefined): void => {
    const { frame } = node;
    let hot = caller;
    if (frame.url !== '') hot = frame.owner === 'app' ? hotOf(found, frame) : undefined;
    // The collector runs on top of any function; JSON has its own finding.
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

export interface HotPlace {
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
      why: `${name} has ${percent(samples / tree.samples)} of the time in which the thread was busy, the builtins it runs included${cause}. The line is the one with most of it.`,
      how,
      diff: '',
      isOnMeasuredPath: true,
    },
  };
}

/** Describes the main cost, as far as a frame or the line shows it, and the usual remedy. */
function causeOf({ builtins, samples }: Hot, line: string): { cause: string; how: string } {
  const main = mainBuiltin(builtins, samples);
  if (main?.source !== undefined) {
    return {
      cause: `, ${main.text}`,
      how: /[+*}][^()]*\)[+*{]/.test(main.source)
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
  if (/\.sort\(|\.toSorted\(/.test(line) || main?.name === 'sort') {
    return {
      cause: ', on a line that sorts',
      how: 'Keep the list sorted, or sort only what is sent.',
    };
  }
  return {
    cause: main === undefined ? '' : `, ${main.text}`,
    how: 'Do less in it: fewer items, once for several requests, or not on the path of a request. redline flame shows what is below it, redline advise which lines would gain.',
  };
}

/**
 * Finds the line that causes a loop's cost: V8 may attribute the ticks of the body to the loop's head, and a call in the lines
 * below is then the cost.
 */
function causingLine(lines: readonly string[], hottest: number): number {
  if (!/\b(?:for|while)\s*\(|\.(?:map|forEach|filter|reduce)\(/.test(lines[hottest - 1] ?? ''))
    return hottest;
  const at = lines.slice(hottest - 1, hottest + 3).findIndex((line) => byLocale.test(line));
  return at < 0 ? hottest : hottest + at;
}

/**
 * Finds the line of a regular expression. Its ticks are not attributed to the line that runs it: if the line itself has none, the
 * literal identifies it.
 */
function lineOfPattern(
  lines: readonly string[],
  from: number,
  pattern: string | undefined,
): number {
  if (pattern === undefined) return from;
  const at = lines
    .slice(from - 1, from - 1 + maxFunctionLines)
    .findIndex((line) => line.includes(`/${pattern}/`));
  return at < 0 ? from : from + at;
}

const byLocale = /\bIntl\.|\.toLocale(?:|Date|Time|Upper|Lower)\w*\(|\.localeCompare\(/;

function placeOf(
  { frame, builtins, samples }: Hot,
  { maps, folder, lines }: HotOptions,
): HotPlace | undefined {
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
    const ticked = isInside ? causingLine(all, place.line) : undefined;
    const line = ticked ?? lineOfPattern(all, place.line, mainBuiltin(builtins, samples)?.source);
    const text = all[line - 1];
    if (text === undefined) return undefined;
    const column =
      line !== place.line || isInside ? text.length - text.trimStart().length + 1 : place.column;
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

/** A builtin of V8 with much of the time of a function or a package, or a regular expression. */
interface MainBuiltin {
  name: string;
  /** Source of a regular expression. */
  source: string | undefined;
  /** `97 % of it in the regular expression /^(\w+\s?)*$/` */
  text: string;
}

/** A builtin with at least this share of the time is its cause. */
const mainShare = 0.4;
const maxSource = 80;

/** @param builtins Samples by the name of the frame, of `samples` in all. */
export function mainBuiltin(
  builtins: ReadonlyMap<string, number>,
  samples: number,
): MainBuiltin | undefined {
  const [name, own] = [...builtins].toSorted(([, a], [, b]) => b - a)[0] ?? ['', 0];
  if (own === 0 || own < samples * mainShare) return undefined;
  const source = sourceOfRegExp(name);
  const shown =
    source !== undefined && source.length > maxSource ? `${source.slice(0, maxSource)}…` : source;
  const what = shown === undefined ? name : `the regular expression /${shown}/`;
  return { name, source, text: `${percent(own / samples)} of it in ${what}` };
}
