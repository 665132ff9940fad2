import { execFile } from 'node:child_process';
import { LabError } from '../errors.ts';

/**
 * Returns the output of a git command.
 * @throws {LabError} ERR_REDLINE_GIT with git's message
 */
export function git(
  args: readonly string[],
  { cwd, signal }: { cwd: string; signal?: AbortSignal },
): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile('git', [...args], { cwd, maxBuffer: 64 * 2 ** 20 }, (error, stdout, stderr) => {
      if (signal?.aborted === true) return reject(signal.reason as Error);
      if (error === null) return resolve(stdout.replace(/\n$/, ''));
      const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
      const said = isMissing ? 'git is not on PATH' : stderr.trim().split('\n').at(-1)!;
      return reject(
        new LabError('ERR_REDLINE_GIT', `git ${args.slice(0, 2).join(' ')} failed: ${said}`),
      );
    });
  });
}
