import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { keyOf } from '../../profile/functions.ts';
import { percent } from '../../report/format.ts';
import type { CallNode, CallTree, Frame } from '../../profile/call-tree.ts';
import type { SourceMaps } from '../../profile/source-maps.ts';
import type { Candidate } from '../examine.ts';
import type { Finding } from '../result.ts';
import { beginsFunction, pathOf } from './observed-functions.ts';

/** A call that a profile shows and no rule found. */
export interface SeenCall extends Candidate {
  samples: number;
}

interface Caller {
  frame: Frame;
  callee: string;
  samples: number;
}

const maxExcerptLength = 160;
const minShare = 0.005;
const minJsonShare = 0.05;
const ownFolder = new URL('../../', import.meta.url).href;

/** Finds synchronous functions of Node that ran under the load, by their caller, in packages as well as in the app. */
export function blockedCalls(tree: CallTree, { maps, folder, isKnown }: SeenOptions): SeenCall[] {
  const found = callersOf(
    tree,
    ({ frame }) => frame.owner === 'core' && frame.name.endsWith('Sync'),
    minShare,
  );
  return found.flatMap(({ frame, callee, samples }) => {
    const place = placeOf(frame, maps, folder);
    if (place === undefined || isKnown(frame, callee)) return [];
    const by = packageOf(place.file);
    return [
      {
        samples,
        edits: [],
        finding: {
          rule: 'sync-under-load',
          title: 'a synchronous call under the load',
          ...place,
          sure: 'certain' as const,
          why: `${callee} was called in ${frame.name || 'this function'} while requests were served, and all of them wait for it.`,
          how:
            by === undefined
              ? `Use the asynchronous form, or call it once as the app starts.`
              : `The package ${by} does it: look for an option that caches or defers it.`,
          diff: '',
          isOnMeasuredPath: true,
        },
      },
    ];
  });
}

/** Finds functions of the app in which JSON is a large part of a request. */
export function jsonCalls(
  tree: CallTree,
  { maps, folder, isKnown, textOf }: SeenOptions,
): SeenCall[] {
  const found = callersOf(
    tree,
    ({ frame }) => frame.url === '' && /^JSON\.(parse|stringify)$/.test(frame.name),
    minJsonShare,
    (frame) => frame.owner === 'app',
  );
  const ofFrame = byFrame(found);
  return ofFrame.flatMap(([frame, calls]) => {
    const place = placeOf(frame, maps, folder);
    const callees = calls.map(({ callee }) => callee);
    if (place === undefined || callees.every((callee) => isKnown(frame, callee))) return [];
    const samples = calls.reduce((sum, call) => sum + call.samples, 0);
    const isCopy = /JSON\.parse\(\s*JSON\.stringify\(/.test(textOf?.(frame) ?? '');
    return [
      {
        samples,
        edits: [],
        finding: {
          rule: 'json-under-load',
          title: isCopy ? 'a copy through JSON' : 'JSON that is a large part of each request',
          ...place,
          sure: 'hint' as const,
          why: `${callees.toSorted().join(' and ')} ${calls.length > 1 ? 'take' : 'takes'} ${percent(samples / tree.samples)} of the time in which the thread was busy, called by ${/^\(|^$/.test(frame.name) ? 'this function' : frame.name}${isCopy ? ', which copies a value by writing it as a text and reading that' : ''}.`,
          how: isCopy
            ? 'Share the value and copy only the fields that are changed, { ...value, field }: a value that nobody changes needs no copy.'
            : 'Send fewer fields or fewer items, cache the text instead of the value, or give the framework a schema to serialise by.',
          diff: '',
          isOnMeasuredPath: true,
        },
      },
    ];
  });
}

export interface SeenOptions {
  maps: SourceMaps;
  folder: string;
  /** True if a rule has already found it. */
  isKnown(frame: Frame, callee: string): boolean;
  /** Returns the source of a function of the app. */
  textOf?(frame: Frame): string | undefined;
}

/** Returns the nearest caller with a file position, for each outermost matching call. */
function callersOf(
  tree: CallTree,
  isSought: (node: CallNode) => boolean,
  share: number,
  mayCall: (frame: Frame) => boolean = ({ owner }) => owner === 'app' || owner === 'deps',
): Caller[] {
  const callers = new Map<string, Caller>();
  const visit = (node: CallNode, caller: Frame | undefined, isOurs: boolean): void => {
    if (caller !== undefined && isSought(node)) {
      // The observer itself writes a line for each process that is started.
      if (isOurs && node.frame.name === 'appendFileSync') return;
      const key = `${caller.url}:${caller.line}:${caller.column}:${node.frame.name}`;
      const known = callers.get(key) ?? { frame: caller, callee: node.frame.name, samples: 0 };
      known.samples += node.total;
      callers.set(key, known);
      return;
    }
    const { frame } = node;
    const isOwn = frame.url.startsWith(ownFolder);
    const isCaller = frame.url !== '' && !isOwn && mayCall(frame);
    for (const child of node.children) {
      visit(child, isCaller ? frame : caller, isOwn || (isOurs && !isCaller));
    }
  };
  visit(tree.root, undefined, false);
  return [...callers.values()].filter(({ samples }) => samples >= tree.samples * share);
}

/** Groups callers by frame: two nodes of the tree may be the same function. */
function byFrame(callers: readonly Caller[]): [Frame, Caller[]][] {
  const groups = Map.groupBy(callers, ({ frame }) => keyOf(frame));
  return [...groups.values()].map((group) => [group[0]!.frame, group]);
}

/** Returns the position and the line of a function's start. */
function placeOf(
  { url, line, column }: Frame,
  maps: SourceMaps,
  folder: string,
): Pick<Finding, 'file' | 'line' | 'column' | 'excerpt'> | undefined {
  const place = maps.original({ url, line, column });
  const path = pathOf(place.url);
  try {
    const lines = readFileSync(path, 'utf8').split('\n');
    const text = lines[place.line - 1]!;
    // In code compiled at load time, the position in the file differs.
    if (place.url === url && !beginsFunction(text, place.column - 1)) return undefined;
    return {
      file: relative(folder, path),
      line: place.line,
      column: place.column,
      excerpt: text.trim().slice(0, maxExcerptLength),
    };
  } catch {
    return undefined;
  }
}

function packageOf(file: string): string | undefined {
  return /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1];
}
