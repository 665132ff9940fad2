import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { PoolError } from './errors.ts';
// Imports the whole module: Node does not detect the named exports of a required .cts.
// oxlint-disable-next-line import/default
import besideThis from './worker-file.cts';

// oxlint-disable-next-line import/no-named-as-default-member
const workerFile: string | undefined = besideThis.workerFile;

/**
 * Finds the program of the workers. A bundle does not contain it, and must not be started in its place: it would start
 * another pool.
 *
 * @throws {PoolError} ERR_REDLINE_POOL_WORKER_FILE
 */
export function findWorkerFile(): string {
  // Some bundlers keep the module's path, but relative to the project.
  if (workerFile !== undefined && isAbsolute(workerFile) && existsSync(workerFile))
    return workerFile;
  const [what, remedy] =
    workerFile === undefined
      ? ['the package is in a bundle', 'mark @redline/child-process as external']
      : [
          `${workerFile} does not exist`,
          'install @redline/child-process again, outside the bundle',
        ];
  throw new PoolError(
    'ERR_REDLINE_POOL_WORKER_FILE',
    `The pool cannot find the program of its workers: ${what}; ${remedy}.`,
  );
}
