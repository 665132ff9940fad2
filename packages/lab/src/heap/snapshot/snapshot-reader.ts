import { LabError } from '../../errors.ts';
import { HeapGraph } from './heap-graph.ts';
import { NumberLists, type NumberSink, StringList } from './sections.ts';

interface Header {
  snapshot: {
    meta: {
      node_fields: string[];
      node_types: [string[], ...unknown[]];
      edge_fields: string[];
      edge_types: [string[], ...unknown[]];
      location_fields?: string[];
      trace_function_info_fields?: string[];
    };
    node_count: number;
    edge_count: number;
  };
}

/**
 * Reads a heap snapshot in pieces, as the inspector sends it, without ever holding the whole text: V8's longest string has
 * 512 MB, and even 200 MB take several GB when parsed.
 */
export class SnapshotReader {
  #head = '';
  #graph: HeapGraph | undefined;
  #section: Section | undefined;
  #between = '';
  #sections: Record<string, () => Section> = {};
  /** Strings come last: until then a name is its number. */
  readonly #functionNames: { name: number; url: number }[] = [];

  write(piece: string): void {
    let rest = piece;
    if (this.#graph === undefined) {
      this.#head += rest;
      const end = this.#head.indexOf('"nodes":[');
      if (end < 0) return;
      rest = this.#head.slice(end);
      this.#begin(this.#head.slice(0, end));
      this.#head = '';
    }
    while (rest !== '') rest = this.#step(rest);
  }

  /** @throws {LabError} ERR_REDLINE_PROFILE for an incomplete snapshot */
  end(): HeapGraph {
    const graph = this.#graph;
    // The strings are the last section.
    if (graph === undefined || graph.strings.length === 0 || this.#section !== undefined) {
      throw new LabError('ERR_REDLINE_PROFILE', 'The heap snapshot is incomplete.');
    }
    this.#functionNames.forEach(({ name, url }, index) => {
      graph.functions[index]!.name = graph.strings[name] ?? '';
      graph.functions[index]!.url = graph.strings[url] ?? '';
    });
    return graph;
  }

  #begin(text: string): void {
    const { snapshot } = JSON.parse(`${text.replace(/,\s*$/, '')}}`) as Header;
    const { meta } = snapshot;
    const graph = new HeapGraph(snapshot.node_count, snapshot.edge_count, {
      nodeTypes: meta.node_types[0],
      edgeTypes: meta.edge_types[0],
    });
    this.#graph = graph;
    this.#sections = {
      nodes: () => new NumberLists(nodeSink(graph, meta.node_fields)),
      edges: () => new NumberLists(edgeSink(graph, meta.edge_fields, meta.node_fields.length)),
      trace_function_infos: () => new NumberLists(this.#functionSink(graph)),
      trace_tree: () => new NumberLists(traceSink(graph)),
      locations: () => new NumberLists(locationSink(graph, meta.node_fields.length)),
      strings: () => new StringList(graph.strings),
    };
  }

  /** @returns the rest of the piece */
  #step(rest: string): string {
    if (this.#section !== undefined) {
      const used = this.#section.write(rest);
      if (this.#section.isDone) this.#section = undefined;
      return rest.slice(used);
    }
    this.#between += rest;
    const found = /"(\w+)":\[/.exec(this.#between);
    if (found === null) return '';
    const after = this.#between.slice(found.index + found[0].length);
    this.#between = '';
    // An unknown section is skipped by its brackets.
    this.#section = this.#sections[found[1]!]?.() ?? new NumberLists({ number() {} });
    return after;
  }

  #functionSink(graph: HeapGraph): NumberSink {
    return records(6, ([, name = 0, url = 0, scriptId = 0, line = 0, column = 0]) => {
      this.#functionNames.push({ name, url });
      graph.functions.push({ name: '', url: '', scriptId, line, column });
    });
  }
}

interface Section {
  /** @returns the number of characters that belong to the section */
  write(piece: string): number;
  readonly isDone: boolean;
}

function nodeSink(graph: HeapGraph, fields: readonly string[]): NumberSink {
  const width = fields.length;
  const place = (name: string): number => fields.indexOf(name);
  const columns: (Uint8Array | Uint32Array | undefined)[] = Array.from({ length: width });
  columns[place('type')] = graph.type;
  columns[place('name')] = graph.name;
  columns[place('id')] = graph.id;
  columns[place('self_size')] = graph.selfSize;
  if (place('trace_node_id') >= 0) columns[place('trace_node_id')] = graph.trace;
  const edgeCount = place('edge_count');
  let [node, field, edges] = [0, 0, 0];
  return {
    number(value) {
      if (field === edgeCount) {
        edges += value;
        graph.firstEdge[node + 1] = edges;
      } else {
        const column = columns[field];
        if (column !== undefined) column[node] = value;
      }
      if (++field === width) {
        field = 0;
        node++;
      }
    },
  };
}

function edgeSink(graph: HeapGraph, fields: readonly string[], nodeWidth: number): NumberSink {
  const width = fields.length;
  const type = fields.indexOf('type');
  const name = fields.indexOf('name_or_index');
  let [edge, field] = [0, 0];
  return {
    number(value) {
      if (field === type) graph.edgeType[edge] = value;
      else if (field === name) graph.edgeName[edge] = value;
      else graph.edgeTo[edge] = value / nodeWidth;
      if (++field === width) {
        field = 0;
        edge++;
      }
    },
  };
}

/** Each node is its id, the index of its function, two counts, and a list of its children. */
function traceSink(graph: HeapGraph): NumberSink {
  const path: number[] = [];
  let [field, current] = [0, 0];
  return {
    number(value) {
      if (field === 0) {
        current = value;
        graph.traceParent.set(value, path.at(-1) ?? 0);
      } else if (field === 1) graph.traceFunction.set(current, value);
      field = (field + 1) % 4;
    },
    open() {
      path.push(current);
    },
    close() {
      path.pop();
    },
  };
}

function locationSink(graph: HeapGraph, nodeWidth: number): NumberSink {
  return records(4, ([object = 0, scriptId = 0, line = 0, column = 0]) => {
    graph.places.set(object / nodeWidth, { scriptId, line: line + 1, column: column + 1 });
  });
}

function records(width: number, take: (fields: readonly number[]) => void): NumberSink {
  let fields: number[] = [];
  return {
    number(value) {
      if (fields.push(value) < width) return;
      take(fields);
      fields = [];
    },
  };
}
