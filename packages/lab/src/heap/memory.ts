import type { Inspector } from '../profile/inspector.ts';
import type { Memory } from './result.ts';

/** Memory after full collections. */
export interface MemoryAfterGc extends Memory {
  /** The longest collection. */
  collectionMs: number;
}

const memoryOfProcess = `(({ heapUsed, external, arrayBuffers, rss }) =>
  ({ heapUsed, external, arrayBuffers, rss }))(process.memoryUsage())`;
/** Finalizers run between two collections, and the second frees what they release. */
const maxCollections = 5;
const negligibleBytes = 2_048;

/** Collects garbage until a full collection frees next to nothing. */
export async function collectGarbage(inspector: Inspector): Promise<MemoryAfterGc> {
  // With an inspector connected, V8 keeps console messages and the objects they show.
  await inspector.ask('Runtime.discardConsoleEntries');
  let before = Number.POSITIVE_INFINITY;
  let collectionMs = 0;
  for (let collections = 1; ; collections++) {
    const startedAt = performance.now();
    await inspector.ask('HeapProfiler.collectGarbage');
    collectionMs = Math.max(collectionMs, performance.now() - startedAt);
    const memory = await evaluate<Memory>(inspector, memoryOfProcess);
    const held = heldBytes(memory);
    if (before - held < negligibleBytes || collections === maxCollections) {
      return { ...memory, collectionMs };
    }
    before = held;
  }
}

/** Returns the memory that can leak. `external` includes the array buffers. */
export function heldBytes({ heapUsed, external }: Memory): number {
  return heapUsed + external;
}

/** Evaluates an expression in the process. */
export async function evaluate<Value>(inspector: Inspector, source: string): Promise<Value> {
  const { result } = await inspector.ask<{ result: { value: Value } }>('Runtime.evaluate', {
    expression: source,
    returnByValue: true,
    // Provides `require`, which modules do not have.
    includeCommandLineAPI: true,
  });
  return result.value;
}
