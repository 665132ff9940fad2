import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import autocannonPackage from 'autocannon/package.json' with { type: 'json' };
import { LabError } from '../errors.ts';
import type { LoadGenerator, LoadOutcome } from './generator.ts';

/**
 * The fallback where wrk cannot be had. It costs about a third more CPU per request than wrk, so a fast server
 * saturates it sooner; the guard on `busy` tells.
 */
export function autocannonGenerator(): LoadGenerator {
  return {
    name: `autocannon ${autocannonPackage.version}`,
    threads: 1,
    async run({ signal, ...load }) {
      const child = fork(fileURLToPath(new URL('./autocannon-process.js', import.meta.url)), {
        detached: true,
      });
      const abort = (): void => void child.kill('SIGKILL');
      signal.addEventListener('abort', abort);
      try {
        child.send(load);
        const exited = once(child, 'exit').then(() => undefined);
        const answered = once(child, 'message').then(([message]) => message as LoadOutcome);
        const outcome = await Promise.race([answered, exited]);
        signal.throwIfAborted();
        if (outcome === undefined) {
          throw new LabError('ERR_REDLINE_LOAD', 'autocannon ended without a result.');
        }
        return outcome;
      } finally {
        signal.removeEventListener('abort', abort);
        child.kill('SIGKILL');
      }
    },
  };
}
