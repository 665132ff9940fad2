/** A function that allocated, as V8 names it. */
export interface AllocatingFunction {
  name: string;
  url: string;
  scriptId: number;
  /** Start of the function, from 1; 0 if V8 has none. */
  line: number;
  column: number;
}

/** The place of a function, or of the class of an object, in a script. From 1. */
export interface ScriptPlace {
  scriptId: number;
  line: number;
  column: number;
}

/**
 * A heap snapshot in typed arrays: 21 bytes a node and 9 an edge, where objects of parsed JSON take several hundred. A node is its
 * index.
 */
export class HeapGraph {
  readonly nodeTypes: readonly string[];
  readonly edgeTypes: readonly string[];
  readonly type: Uint8Array;
  readonly name: Uint32Array;
  readonly id: Uint32Array;
  readonly selfSize: Uint32Array;
  /** Node of the trace tree that allocated it; 0 for objects from before the recording. */
  readonly trace: Uint32Array;
  /** Edges of node n are those from `firstEdge[n]` up to `firstEdge[n + 1]`. */
  readonly firstEdge: Uint32Array;
  readonly edgeType: Uint8Array;
  readonly edgeName: Uint32Array;
  readonly edgeTo: Uint32Array;
  /** Long ones are cut: only names are read. */
  strings: string[] = [];
  readonly places: Map<number, ScriptPlace> = new Map();
  readonly functions: AllocatingFunction[] = [];
  /** Trace node → its caller's, and the function it is in. */
  readonly traceParent: Map<number, number> = new Map();
  readonly traceFunction: Map<number, number> = new Map();

  constructor(
    nodes: number,
    edges: number,
    types: { nodeTypes: readonly string[]; edgeTypes: readonly string[] },
  ) {
    this.nodeTypes = types.nodeTypes;
    this.edgeTypes = types.edgeTypes;
    this.type = new Uint8Array(nodes);
    this.name = new Uint32Array(nodes);
    this.id = new Uint32Array(nodes);
    this.selfSize = new Uint32Array(nodes);
    this.trace = new Uint32Array(nodes);
    this.firstEdge = new Uint32Array(nodes + 1);
    this.edgeType = new Uint8Array(edges);
    this.edgeName = new Uint32Array(edges);
    this.edgeTo = new Uint32Array(edges);
  }

  get nodeCount(): number {
    return this.type.length;
  }

  nameOf(node: number): string {
    return this.strings[this.name[node]!] ?? '';
  }

  typeOf(node: number): string {
    return this.nodeTypes[this.type[node]!] ?? '';
  }

  /** Returns `[3]` for an element, otherwise its name. */
  edgeLabel(edge: number): string {
    const type = this.edgeTypes[this.edgeType[edge]!];
    const name = this.edgeName[edge]!;
    return type === 'element' || type === 'hidden' ? `[${name}]` : (this.strings[name] ?? '');
  }

  edgeKind(edge: number): string {
    return this.edgeTypes[this.edgeType[edge]!] ?? '';
  }

  /** Returns the calls that led to an allocation, innermost first. */
  stackOfTrace(node: number): AllocatingFunction[] {
    const stack: AllocatingFunction[] = [];
    for (let trace = node; trace !== 0; trace = this.traceParent.get(trace) ?? 0) {
      const found = this.functions[this.traceFunction.get(trace) ?? -1];
      if (found !== undefined) stack.push(found);
    }
    return stack;
  }
}
