import { execFile } from 'node:child_process';
import { LabError } from '../errors.ts';

/**
 * Runs npm: its configuration holds the user's registry, proxy and credentials, and it checks each tarball against the integrity
 * its registry promises.
 * @throws {NpmFailure} with npm's own code, e.g. `E404`, `ETARGET`
 */
export function npm(args: readonly string[], signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(
      'npm',
      [...args, '--loglevel=error'],
      { signal, maxBuffer: 64 * 2 ** 20, shell: process.platform === 'win32' },
      (error, stdout, stderr) => {
        if (error === null) return resolve(stdout);
        if (signal.aborted) return reject(signal.reason as Error);
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
          return reject(
            new LabError(
              'ERR_REDLINE_RUNTIME',
              'npm is not on PATH; it is needed to fetch a runtime.',
            ),
          );
        }
        return reject(new NpmFailure(stderr));
      },
    );
  });
}

export class NpmFailure extends Error {
  readonly code: string | undefined;

  constructor(stderr: string) {
    const lines = stderr
      .split('\n')
      .map((line) => line.replace(/^npm (error|ERR!)\s*/, ''))
      .filter((line) => line !== '' && !line.startsWith('npm warn'));
    const code = lines.find((line) => line.startsWith('code '))?.slice('code '.length);
    super(lines.find((line) => !line.startsWith('code ')) ?? 'npm printed nothing');
    this.code = code;
  }

  get isUnknown(): boolean {
    return ['E404', 'ETARGET', 'ENOVERSIONS'].includes(this.code ?? '');
  }
}
