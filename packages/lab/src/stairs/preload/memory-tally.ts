import http, { type Server } from 'node:http';
import https from 'node:https';
import { performance } from 'node:perf_hooks';
import { GCProfiler, getHeapStatistics } from 'node:v8';

/** Memory of one slice. */
export interface SliceMemory {
  /** Allocated in the heap of the main thread, and outside of it for Buffers. */
  allocatedBytes: number;
  /** CPU of the garbage collector on the main thread. */
  collectorMicros: number;
}

/**
 * Counts what is allocated while it runs, and the pauses of the garbage collector. It costs some µs for each request, so the CPU of
 * its slices is not comparable with others.
 */
export class MemoryTally {
  readonly #collections = new GCProfiler();
  readonly #before = getHeapStatistics();
  readonly #activeBefore = performance.eventLoopUtilization();
  #external = this.#before.external_memory;
  #externalBytes = 0;

  constructor() {
    this.#collections.start();
  }

  /** Must be called often: memory that is freed between two calls hides as much that is allocated. */
  look(): void {
    const external = getHeapStatistics().external_memory;
    if (external > this.#external) this.#externalBytes += external - this.#external;
    this.#external = external;
  }

  /** @param threadMicros CPU of the main thread meanwhile. */
  stop(threadMicros: number): SliceMemory {
    this.look();
    const { active } = performance.eventLoopUtilization(this.#activeBefore);
    const used = getHeapStatistics().used_heap_size - this.#before.used_heap_size;
    const { statistics } = this.#collections.stop() as Collections;
    const freed = statistics.reduce((sum, { beforeGC, afterGC }) => {
      return sum + beforeGC.heapStatistics.usedHeapSize - afterGC.heapStatistics.usedHeapSize;
    }, 0);
    const pausedMs = statistics.reduce((sum, { cost }) => sum + cost, 0) / 1_000;
    return {
      allocatedBytes: Math.max(0, used + freed + this.#externalBytes),
      // A pause is as long as the thread takes, with its turns without the core; so is the time in which the loop is active.
      collectorMicros: active > 0 ? Math.min(1, pausedMs / active) * threadMicros : 0,
    };
  }
}

interface Collections {
  statistics: {
    /** Duration in µs. */
    cost: number;
    beforeGC: { heapStatistics: { usedHeapSize: number } };
    afterGC: { heapStatistics: { usedHeapSize: number } };
  }[];
}

/**
 * Has a tally look before and after each request, until the function that is returned is called. The servers are wrapped only then:
 * slices that are timed run the code they ran without it.
 */
export function lookAtRequests(tally: MemoryTally): () => void {
  const restores = [http.Server.prototype, https.Server.prototype].map((prototype: Server) => {
    const emit = prototype.emit as (this: Server, event: string, ...args: unknown[]) => boolean;
    prototype.emit = function (this: Server, event: string, ...args: unknown[]): boolean {
      if (event !== 'request') return emit.call(this, event, ...args);
      tally.look();
      try {
        return emit.call(this, event, ...args);
      } finally {
        tally.look();
      }
    } as typeof prototype.emit;
    return () => {
      prototype.emit = emit as typeof prototype.emit;
    };
  });
  return () => restores.forEach((restore) => restore());
}
