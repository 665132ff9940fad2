import { describe, it } from 'node:test';
import { sinkContract, type SinkTraits } from '../../src/testing/index.ts';

/** What every sink owes to the core, each case a test. */
export function runContract(traits: SinkTraits): void {
  describe('as every sink', () => {
    for (const { name, skip, timeoutMs, run } of sinkContract(traits)) {
      it(name, { skip, timeout: timeoutMs }, run);
    }
  });
}
