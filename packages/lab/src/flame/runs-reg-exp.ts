import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { CallNode, CallTree, Frame } from '../profile/call-tree.ts';
import { type FunctionCost, functionsOf, hotShare, keyOf } from '../profile/functions.ts';
import { sourceOfRegExp } from '../profile/reg-exp-names.ts';
import type { SourceMaps } from '../profile/source-maps.ts';

/** Calls that run a regular expression; `replace` and `split` take strings, too. */
const regExpCall =
  /\.(?:test|exec|match|matchAll|search)\(|\.replace(?:All)?\((?!\s*['"`])|\.split\(\s*\//;

/**
 * Returns the functions that take at least 1 % of the samples themselves, most of it on a line that runs a regular expression: V8
 * has no frame for an expression that was compiled before the profile.
 * @param lines The line with the most ticks of each function.
 */
export function functionsWithRegExp(
  tree: CallTree,
  maps: SourceMaps,
  lines: ReadonlyMap<string, number>,
): FunctionCost[] {
  return functionsOf(tree).filter(
    ({ self, frame }) => self >= tree.samples * hotShare && runsRegExp(frame, maps, lines),
  );
}

/** Returns the keys of the functions whose regular expressions, as frames of their own, take more time than they do. */
export function mostlyRegExps(tree: CallTree): Set<string> {
  const more = new Map<string, number>();
  const visit = (node: CallNode): void => {
    const key = keyOf(node.frame);
    let difference = (more.get(key) ?? 0) - node.self;
    for (const { frame, self } of node.children)
      if (sourceOfRegExp(frame.name) !== undefined) difference += self;
    more.set(key, difference);
    node.children.forEach(visit);
  };
  visit(tree.root);
  return new Set([...more].flatMap(([key, difference]) => (difference > 0 ? [key] : [])));
}

function runsRegExp(frame: Frame, maps: SourceMaps, lines: ReadonlyMap<string, number>): boolean {
  const line = lines.get(keyOf(frame));
  if (line === undefined || (frame.owner !== 'app' && frame.owner !== 'deps')) return false;
  const original = maps.original({ url: frame.url, line, column: 1 });
  try {
    const path = original.url.startsWith('file://') ? fileURLToPath(original.url) : original.url;
    return regExpCall.test(readFileSync(path, 'utf8').split('\n')[original.line - 1] ?? '');
  } catch {
    return false;
  }
}
