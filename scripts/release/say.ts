import { execFileSync, type ExecFileSyncOptions } from 'node:child_process';

/** Prints a line of progress. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** An error that ends the release: the problem and the remedy, in one sentence. */
export class ReleaseError extends Error {
  override readonly name = 'ReleaseError';
}

/** Runs a program to its end and shows its messages. @throws {ReleaseError} if it fails. */
export function run(
  program: string,
  args: readonly string[],
  { env, ...options }: ExecFileSyncOptions = {},
): void {
  try {
    execFileSync(program, args, {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, ...env },
      ...options,
    });
  } catch (error) {
    throw new ReleaseError(`${program} ${args.slice(0, 3).join(' ')} failed.`, { cause: error });
  }
}

/** Returns the output of a program; undefined if it fails or is not installed. */
export function ask(program: string, args: readonly string[], cwd?: string): string | undefined {
  try {
    return execFileSync(program, args, {
      encoding: 'utf8',
      maxBuffer: 64 << 20,
      stdio: ['ignore', 'pipe', 'ignore'],
      ...(cwd !== undefined && { cwd }),
    }).trim();
  } catch {
    return undefined;
  }
}
