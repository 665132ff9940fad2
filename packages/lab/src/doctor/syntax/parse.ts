import { tsPlugin } from '@sveltejs/acorn-typescript';
import { Parser, type Options } from 'acorn';
import type { Node } from './node.ts';

const sourceTypes = ['module', 'commonjs', 'script'] as const;
const typed = Parser.extend(tsPlugin());
const typedWithJsx = Parser.extend(tsPlugin({ jsx: true }));

/** Returns the syntax tree of a file; undefined if it cannot be parsed. */
export function parse(path: string, text: string): Node | undefined {
  for (const parser of parsersFor(path)) {
    for (const sourceType of sourceTypes) {
      const tree = attempt(parser, text, sourceType);
      if (tree !== undefined) return tree;
    }
  }
  return undefined;
}

/** Selects parsers by the file extension: `<T>x` may be a cast or an element, and `a < b > (c)` a call or two comparisons. */
function parsersFor(path: string): (typeof Parser)[] {
  if (/\.[cm]?ts$/.test(path)) return [typed];
  // Compilers also accept decorators and JSX in .js.
  return /\.[jt]sx$/.test(path) ? [typedWithJsx] : [Parser, typedWithJsx];
}

function attempt(
  parser: typeof Parser,
  text: string,
  sourceType: Options['sourceType'],
): Node | undefined {
  try {
    // The plugin needs the locations.
    const options: Options = { ecmaVersion: 'latest', sourceType, locations: true };
    return parser.parse(text, options) as unknown as Node;
  } catch {
    return undefined;
  }
}
