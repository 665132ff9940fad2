import undiciPackage from 'undici/package.json' with { type: 'json' };
import { askProcess } from './ask-process.ts';
import type { LoadGenerator, LoadOutcome } from './generator.ts';

/**
 * The fallback if wrk is not installed. It costs more CPU per request than wrk, so a fast server saturates it sooner;
 * the guard on `busy` reports that.
 */
export function undiciGenerator(): LoadGenerator {
  return {
    name: `undici ${undiciPackage.version}`,
    threads: 1,
    launches: false,
    async run({ signal, beforeEnd, ...load }) {
      const outcome = await askProcess<LoadOutcome>('./undici-process.js', 'undici', load, signal);
      await beforeEnd?.();
      return outcome;
    },
  };
}
