export interface Sample {
  requests: number;
  /** Resident, all in all. */
  residentMiB: number;
  /** What JavaScript holds, and what hangs on that. */
  heapKiB: number;
}

/** What the process holds after so many requests, once all that can be collected is. Needs --expose-gc. */
export async function sampleMemory(requests: number): Promise<Sample> {
  // What a first collection lets go may hold more. The last resort makes V8 give back the free pages that it keeps after
  // every other collection.
  const { gc } = globalThis as unknown as { gc(options: object): void };
  for (let i = 0; i < 3; i++) {
    gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    await new Promise(setImmediate);
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  return {
    requests,
    residentMiB: Math.round(rss / 2 ** 18) / 4,
    heapKiB: Math.round((heapUsed + external) / 2 ** 10),
  };
}
