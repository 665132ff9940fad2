import { fileURLToPath } from 'node:url';
import type { CallNode, CallTree, Frame } from '../../profile/call-tree.ts';
import { keyOf } from '../../profile/functions.ts';
import type { SourceMaps } from '../../profile/source-maps.ts';
import type { App } from '../app/app.ts';
import { writtenAs } from '../app/start-of.ts';
import { at, type FunctionNode, isFunction, type Node } from '../syntax/node.ts';
import type { SourceFile } from '../syntax/source-file.ts';

/** A function of the app that appears in a profile. */
export interface ObservedFunction {
  file: SourceFile;
  node: FunctionNode;
}

/** Maps each frame of a profile to a function of the source, through source maps. */
export class ObservedFunctions {
  readonly #byKey = new Map<string, ObservedFunction | undefined>();
  readonly #files: ReadonlyMap<string, SourceFile>;
  readonly #maps: SourceMaps;
  readonly #folder: string;
  /** All functions that appear on a stack. */
  readonly nodes: ReadonlySet<Node>;

  constructor(tree: CallTree, { sources, folder }: App, maps: SourceMaps) {
    this.#folder = folder;
    this.#files = new Map(sources.map((file) => [file.path, file]));
    this.#maps = maps;
    const nodes = new Set<Node>();
    const visit = (node: CallNode): void => {
      const found = this.of(node.frame);
      if (found !== undefined) nodes.add(found.node);
      node.children.forEach(visit);
    };
    visit(tree.root);
    this.nodes = nodes;
  }

  of(frame: Frame): ObservedFunction | undefined {
    if (frame.owner !== 'app' || frame.line < 1) return undefined;
    const key = keyOf(frame);
    if (!this.#byKey.has(key)) this.#byKey.set(key, this.#find(frame));
    return this.#byKey.get(key);
  }

  #find(frame: Frame): ObservedFunction | undefined {
    const { url, line, column, name } = frame;
    const place = this.#maps.original({ url, line, column });
    const path = pathOf(place.url);
    const isMapped = place.url !== url;
    const file = this.#files.get(path);
    if (file === undefined) {
      // Compiled without a map: only names match the original source.
      const written = this.#files.get(writtenAs(path, this.#folder) ?? '');
      return written && named(written, name);
    }
    const offset = file.offsetOf(place.line, place.column);
    // Code compiled at load time keeps the file name, but not its positions.
    if (!isMapped && !beginsFunction(file.text, offset)) return named(file, name);
    let best: FunctionNode | undefined;
    for (const each of functionsOf(file)) {
      const body = at(each, 'body');
      const holds = headOf(each).start <= offset && offset <= (body?.start ?? each.end);
      if (holds && (best === undefined || each.start >= best.start)) best = each;
    }
    return best === undefined ? named(file, name) : { file, node: best };
  }
}

/** True if a function starts at this offset: V8 reports the position of its parameters. */
export function beginsFunction(text: string, offset: number): boolean {
  return /^(\(|async\b|function\b|class\b|[\w$]+\s*=>)/.test(text.slice(offset, offset + 80));
}

export function pathOf(url: string): string {
  return url.startsWith('file://') ? fileURLToPath(url) : url;
}

/** Returns the function of that name if the file has exactly one. */
function named(file: SourceFile, name: string): ObservedFunction | undefined {
  const short = name.replace(/^.*\./, '');
  if (short === '') return undefined;
  const [only, ...others] = functionsOf(file).filter((each) => nameOfFunction(each) === short);
  return only === undefined || others.length > 0 ? undefined : { file, node: only };
}

function functionsOf(file: SourceFile): FunctionNode[] {
  return file
    .all('FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression')
    .filter(isFunction);
}

/** Returns the node a map may point at for the start of a function: the name of a method or a property precedes it. */
function headOf(fn: FunctionNode): Node {
  const { parent } = fn;
  const isNamed = /^(MethodDefinition|PropertyDefinition|Property|VariableDeclarator)$/.test(
    parent?.type ?? '',
  );
  return isNamed ? parent! : fn;
}

function nameOfFunction(fn: FunctionNode): unknown {
  const own = at(fn, 'id');
  const { parent } = fn;
  return (own ?? at(parent, 'key') ?? at(parent, 'id'))?.['name'];
}
