import autocannonPackage from 'autocannon/package.json' with { type: 'json' };
import { askProcess } from './ask-process.ts';
import type { LoadGenerator, LoadOutcome } from './generator.ts';

/**
 * The fallback where wrk cannot be had. It costs about a third more CPU per request than wrk, so a fast server
 * saturates it sooner; the guard on `busy` tells.
 */
export function autocannonGenerator(): LoadGenerator {
  return {
    name: `autocannon ${autocannonPackage.version}`,
    threads: 1,
    launches: false,
    async run({ signal, beforeEnd, ...load }) {
      const outcome = await askProcess<LoadOutcome>(
        './autocannon-process.js',
        'autocannon',
        load,
        signal,
      );
      await beforeEnd?.();
      return outcome;
    },
  };
}
