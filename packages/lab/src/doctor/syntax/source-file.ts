import { childrenOf, type Node } from './node.ts';
import { parse } from './parse.ts';
import { Scopes } from './scopes.ts';

export interface Place {
  /** Counted from 1. */
  line: number;
  column: number;
}

/** A file of the app with its syntax tree. */
export class SourceFile {
  /** Absolute path. */
  readonly path: string;
  /** Path relative to the app's folder. */
  readonly name: string;
  readonly text: string;
  readonly program: Node;
  /** All nodes by type, in the order of the source. */
  readonly #byType = new Map<string, Node[]>();
  readonly #lineStarts: number[] = [0];
  #scopes: Scopes | undefined;
  #calls: readonly Node[] | undefined;

  private constructor(path: string, name: string, text: string, program: Node, shift = 0) {
    this.path = path;
    this.name = name;
    this.text = text;
    this.program = program;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', end + 1)) {
      this.#lineStarts.push(end + 1);
    }
    this.#index(program, undefined, shift);
  }

  /** Undefined if the file cannot be parsed: its compiler reports the error. */
  static parse(path: string, name: string, text: string): SourceFile | undefined {
    const program = parse(path, text);
    return program && new SourceFile(path, name, text, program);
  }

  /** Parses JSON as an expression: in parentheses, the same parser reads it. */
  static parseJson(path: string, name: string, text: string): SourceFile | undefined {
    const program = parse('json.js', `(${text}\n)`);
    return program && new SourceFile(path, name, text, program, 1);
  }

  get scopes(): Scopes {
    return (this.#scopes ??= new Scopes(this.program));
  }

  all(...types: readonly string[]): Node[] {
    return types.flatMap((type) => this.#byType.get(type) ?? []);
  }

  /** Returns calls and `new` expressions, in source order. */
  calls(): readonly Node[] {
    return (this.#calls ??= this.all('CallExpression', 'NewExpression').toSorted(
      (a, b) => a.start - b.start,
    ));
  }

  textOf({ start, end }: { start: number; end: number }): string {
    return this.text.slice(start, end);
  }

  placeOf(offset: number): Place {
    let low = 0;
    let high = this.#lineStarts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#lineStarts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - this.#lineStarts[low]! + 1 };
  }

  /** Returns the offset of a line and a column, both counted from 1. */
  offsetOf(line: number, column: number): number {
    return (this.#lineStarts[line - 1] ?? this.text.length) + column - 1;
  }

  lineText(line: number): string {
    const start = this.#lineStarts[line - 1] ?? 0;
    return this.text.slice(start, this.#lineStarts[line] ?? this.text.length).replace(/\r?\n$/, '');
  }

  #index(node: Node, parent: Node | undefined, shift: number): void {
    node.parent = parent;
    node.start -= shift;
    node.end -= shift;
    const known = this.#byType.get(node.type);
    if (known === undefined) this.#byType.set(node.type, [node]);
    else known.push(node);
    for (const child of childrenOf(node)) this.#index(child, node, shift);
  }
}
