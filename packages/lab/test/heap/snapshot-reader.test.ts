import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Session } from 'node:inspector/promises';
import { SnapshotReader } from '../../src/heap/snapshot/snapshot-reader.ts';
import { pathTo, retainingTree } from '../../src/heap/snapshot/retaining-tree.ts';
import type { HeapGraph } from '../../src/heap/snapshot/heap-graph.ts';

/** As V8 writes it: the root leads to `kept`, and that to a closure; nothing but a weak edge leads to the last node. */
const small = `{"snapshot":{"meta":{"node_fields":["type","name","id","self_size","edge_count","trace_node_id","detachedness"],"node_types":[["hidden","object","closure","synthetic"],"string","number","number","number","number","number"],"edge_fields":["type","name_or_index","to_node"],"edge_types":[["property","element","weak"],"string_or_number","node"],"trace_function_info_fields":["function_id","name","script_name","script_id","line","column"],"trace_node_fields":["id","function_info_index","count","size","children"],"sample_fields":["timestamp_us","last_assigned_id"],"location_fields":["object_index","script_id","line","column"]},"node_count":4,"edge_count":3,"trace_function_count":2},
"nodes":[3,0,1,0,2,0,0
,1,1,3,24,1,2,0
,2,2,5,64,0,0,0
,1,3,7,16,0,0,0
],
"edges":[0,4,7
,2,5,21
,1,3,14
],
"trace_function_infos":[1,6,7,0,0,0
,9,2,8,61,12,3
],
"trace_tree":[1,0,0,0,[2,1,3,72,[]]],
"samples":[1,2
],
"locations":[14,61,11,4
],
"strings":["<dummy>",
"Kept","make","Gone [1,2] \\"x\\" \\\\","kept","gone","(root)","","file:///app.js\\u00e9"]}`;

function read(text: string, pieceLength: number): HeapGraph {
  const reader = new SnapshotReader();
  for (let at = 0; at < text.length; at += pieceLength) {
    reader.write(text.slice(at, at + pieceLength));
  }
  return reader.end();
}

describe('a heap snapshot in pieces', () => {
  test('gives the same graph wherever it is cut', () => {
    for (const length of [1, 2, 3, 7, 64, small.length]) {
      const graph = read(small, length);
      assert.deepEqual(
        [0, 1, 2, 3].map((node) => [graph.typeOf(node), graph.nameOf(node), graph.id[node]]),
        [
          ['synthetic', '<dummy>', 1],
          ['object', 'Kept', 3],
          ['closure', 'make', 5],
          ['object', 'Gone [1,2] "x" \\', 7],
        ],
      );
      assert.deepEqual([...graph.firstEdge], [0, 2, 3, 3, 3]);
      assert.equal(graph.edgeLabel(0), 'kept');
      assert.equal(graph.edgeLabel(2), '[3]');
      assert.deepEqual(graph.places.get(2), { scriptId: 61, line: 12, column: 5 });
      assert.deepEqual(graph.stackOfTrace(graph.trace[1]!), [
        { name: 'make', url: 'file:///app.jsé', scriptId: 61, line: 12, column: 3 },
        { name: '(root)', url: '', scriptId: 0, line: 0, column: 0 },
      ]);
    }
  });

  test('gives paths of strong edges alone', () => {
    const tree = retainingTree(read(small, 100));
    assert.deepEqual([...tree.order], [0, 1, 2]);
    assert.deepEqual(pathTo(tree, 2), [0, 1, 2]);
  });

  test('that ends too early is an error, not half a graph', () => {
    for (const end of ['"nodes"', '"strings"', '"Kept"', ',"make"']) {
      const reader = new SnapshotReader();
      reader.write(small.slice(0, small.indexOf(end)));
      assert.throws(() => reader.end(), { code: 'ERR_REDLINE_PROFILE' }, end);
    }
  });

  test('of this V8 has each object with its class, size and path', async () => {
    class KeptForThisTest {
      readonly text = `never the same ${process.hrtime.bigint()}`;
    }
    const holder = { deep: [new KeptForThisTest()] };
    (globalThis as { heldByTest?: object }).heldByTest = holder;
    using session = Object.assign(new Session(), {
      [Symbol.dispose](this: Session) {
        this.disconnect();
      },
    });
    session.connect();
    const reader = new SnapshotReader();
    session.on('HeapProfiler.addHeapSnapshotChunk', ({ params }) => reader.write(params.chunk));
    await session.post('HeapProfiler.takeHeapSnapshot', { reportProgress: false });
    const graph = reader.end();
    const all = Array.from({ length: graph.nodeCount }, (_, node) => node);
    const found = all.filter(
      (node) => graph.typeOf(node) === 'object' && graph.nameOf(node) === 'KeptForThisTest',
    );
    assert.equal(found.length, 1);
    assert.ok(graph.selfSize[found[0]!]! >= 24);
    const tree = retainingTree(graph);
    const labels = pathTo(tree, found[0]!).map((node) =>
      tree.edgeTo[node] === 0xffff_ffff ? '' : graph.edgeLabel(tree.edgeTo[node]!),
    );
    assert.ok(labels.includes('heldByTest') || labels.includes('holder'), labels.join(' '));
    assert.equal(labels.at(-1), '[0]');
    delete (globalThis as { heldByTest?: object }).heldByTest;
  });
});
