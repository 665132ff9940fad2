import type { Inspector } from '../profile/inspector.ts';
import type { HeapGraph } from './snapshot/heap-graph.ts';
import { SnapshotReader } from './snapshot/snapshot-reader.ts';

/** A heap in which each object has the calls that allocated it, and its round. */
export interface TrackedHeap {
  graph: HeapGraph;
  /** Last object id after each round. Objects up to the first are not counted: V8 adapts to recording in that round. */
  boundaries: number[];
  /** The process stood still for this long. */
  snapshotMs: number;
  snapshotBytes: number;
}

/**
 * Records every allocation while rounds of requests run, then takes a snapshot. V8 numbers objects in the order in which it meets
 * them, so the last number after a round tells the objects of that round from later ones.
 */
export async function track(
  inspector: Inspector,
  rounds: readonly (() => Promise<void>)[],
  beforeSnapshot: () => void = () => {},
): Promise<TrackedHeap> {
  await inspector.ask('HeapProfiler.startTrackingHeapObjects', { trackAllocations: true });
  const boundaries: number[] = [];
  for (const round of rounds) {
    await round();
    await inspector.ask('HeapProfiler.collectGarbage');
    boundaries.push(await lastObjectId(inspector));
  }
  const reader = new SnapshotReader();
  let snapshotBytes = 0;
  inspector.on<{ chunk: string }>('HeapProfiler.addHeapSnapshotChunk', ({ chunk }) => {
    snapshotBytes += chunk.length;
    reader.write(chunk);
  });
  beforeSnapshot();
  const startedAt = performance.now();
  await inspector.ask('HeapProfiler.stopTrackingHeapObjects', { reportProgress: false });
  return {
    graph: reader.end(),
    boundaries,
    snapshotMs: performance.now() - startedAt,
    snapshotBytes,
  };
}

/** Waits for two of V8's reports, which come several times a second: the first may have been on its way already. */
async function lastObjectId(inspector: Inspector): Promise<number> {
  const event = 'HeapProfiler.lastSeenObjectId';
  await inspector.next(event);
  const { lastSeenObjectId } = await inspector.next<{ lastSeenObjectId: number }>(event);
  return lastSeenObjectId;
}
