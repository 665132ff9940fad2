import { ancestors, at, bare, isFunction, listAt, nameOf, type Node } from './node.ts';

/** Declaration of a name. */
export interface Binding {
  kind: 'import' | 'variable' | 'function' | 'class' | 'parameter';
  name: string;
  /** The declaration: an import specifier, a declarator, a function, a class, or the pattern of a parameter. */
  node: Node;
  identifier: Node;
  /** The function or block it belongs to; the program for top-level names. */
  scope: Node;
}

/** Resolves each name of a file by the scope rules of JavaScript. */
export class Scopes {
  readonly #names = new Map<Node, Map<string, Binding>>();
  readonly #program: Node;

  constructor(program: Node) {
    this.#program = program;
    this.#visit(program, program, program);
  }

  /** Returns the binding of a name as seen from a node; undefined for globals. */
  find(name: string, from: Node): Binding | undefined {
    const own = this.#names.get(from)?.get(name);
    if (own !== undefined) return own;
    for (const above of ancestors(from)) {
      const found = this.#names.get(above)?.get(name);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Returns all names in the file's top-level scope. */
  get ofFile(): ReadonlyMap<string, Binding> {
    return this.#names.get(this.#program) ?? new Map<string, Binding>();
  }

  isOfFile({ scope }: Binding): boolean {
    return scope === this.#program;
  }

  #visit(node: Node, block: Node, body: Node): void {
    switch (node.type) {
      case 'ImportDeclaration':
        for (const each of listAt(node, 'specifiers')) {
          this.#add(block, { kind: 'import', node: each, pattern: at(each, 'local') });
        }
        return;
      case 'VariableDeclaration':
        for (const each of listAt(node, 'declarations')) {
          const scope = node['kind'] === 'var' ? body : block;
          this.#add(scope, { kind: 'variable', node: each, pattern: at(each, 'id') });
        }
        break;
      case 'FunctionDeclaration':
        this.#add(block, { kind: 'function', node, pattern: at(node, 'id') });
        break;
      case 'ClassDeclaration':
        this.#add(block, { kind: 'class', node, pattern: at(node, 'id') });
        break;
      case 'CatchClause':
        this.#add(node, { kind: 'parameter', node, pattern: at(node, 'param') });
        break;
      default:
        break;
    }
    const isFunctionNode = isFunction(node);
    if (isFunctionNode) {
      for (const parameter of listAt(node, 'params')) {
        this.#add(node, { kind: 'parameter', node: parameter, pattern: parameter });
      }
      if (node.type === 'FunctionExpression') {
        this.#add(node, { kind: 'function', node, pattern: at(node, 'id') });
      }
    }
    const isBlock =
      /^(BlockStatement|For\w*Statement|SwitchStatement|StaticBlock|CatchClause)$/.test(node.type);
    const inner = isFunctionNode || isBlock ? node : block;
    for (const child of children(node)) this.#visit(child, inner, isFunctionNode ? node : body);
  }

  #add(
    scope: Node,
    { kind, node, pattern }: { kind: Binding['kind']; node: Node; pattern: Node | undefined },
  ): void {
    for (const identifier of identifiersOf(pattern)) {
      const name = nameOf(identifier)!;
      const names = this.#names.get(scope) ?? new Map<string, Binding>();
      this.#names.set(scope, names);
      if (!names.has(name)) names.set(name, { kind, name, node, identifier, scope });
    }
  }
}

function* children(node: Node): Generator<Node> {
  for (const [key, value] of Object.entries(node)) {
    if (key === 'parent') continue;
    for (const each of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (typeof each === 'object' && each !== null && 'type' in each) yield each as Node;
    }
  }
}

/** Yields every name that a pattern declares. */
function* identifiersOf(pattern: Node | undefined): Generator<Node> {
  switch (pattern?.type) {
    case 'Identifier':
      yield pattern;
      break;
    case 'ObjectPattern':
      for (const each of listAt(pattern, 'properties')) {
        yield* identifiersOf(
          each.type === 'RestElement' ? at(each, 'argument') : at(each, 'value'),
        );
      }
      break;
    case 'ArrayPattern':
      for (const each of listAt(pattern, 'elements')) yield* identifiersOf(each);
      break;
    case 'AssignmentPattern':
      yield* identifiersOf(bare(at(pattern, 'left')));
      break;
    case 'RestElement':
      yield* identifiersOf(at(pattern, 'argument'));
      break;
    case 'TSParameterProperty':
      yield* identifiersOf(at(pattern, 'parameter'));
      break;
    default:
      break;
  }
}
