import { fileURLToPath } from 'node:url';
import type { CallNode, CallTree, Frame } from '../../profile/call-tree.ts';
import { keyOf } from '../../profile/functions.ts';
import type { SourceMaps } from '../../profile/source-maps.ts';
import type { App } from '../app/app.ts';
import { at, type FunctionNode, isFunction, type Node } from '../syntax/node.ts';
import type { SourceFile } from '../syntax/source-file.ts';

/** A function of the app that a profile saw. */
export interface ObservedFunction {
  file: SourceFile;
  node: FunctionNode;
}

/** Which function of the source each frame of a profile is, through source maps. */
export class ObservedFunctions {
  readonly #byKey = new Map<string, ObservedFunction | undefined>();
  readonly #files: ReadonlyMap<string, SourceFile>;
  readonly #maps: SourceMaps;
  /** All that were on a stack. */
  readonly nodes: ReadonlySet<Node>;

  constructor(tree: CallTree, { sources }: App, maps: SourceMaps) {
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

  #find({ url, line, column, name }: Frame): ObservedFunction | undefined {
    const place = this.#maps.original({ url, line, column });
    const path = place.url.startsWith('file://') ? fileURLToPath(place.url) : place.url;
    const file = this.#files.get(path);
    if (file === undefined) return undefined;
    const offset = file.offsetOf(place.line, place.column);
    let best: FunctionNode | undefined;
    for (const each of functionsOf(file)) {
      const body = at(each, 'body');
      const holds = headOf(each).start <= offset && offset <= (body?.start ?? each.end);
      if (holds && (best === undefined || each.start >= best.start)) best = each;
    }
    // A compiler that keeps no map of columns still keeps names.
    best ??= functionsOf(file).find(
      (each) => nameOfFunction(each) === name.replace(/^.*\./, '') && name !== '',
    );
    return best && { file, node: best };
  }
}

function functionsOf(file: SourceFile): FunctionNode[] {
  return file
    .all('FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression')
    .filter(isFunction);
}

/** What a map may point at for the start of a function: its name as a method or a property comes before it. */
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
