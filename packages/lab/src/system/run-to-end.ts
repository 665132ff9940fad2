import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { LabError } from '../errors.ts';
import { startGroup } from './guardian.ts';

/** Number of output lines in an error: enough to see what went wrong. */
const lastLines = 15;
const keptCharacters = 20_000;
const lastOutputMs = 200;

/**
 * Runs a command that prepares a measurement to its end; on abort, ends it and everything it started.
 * @param asked The option it comes from, for the message.
 * @throws {LabError} ERR_REDLINE_COMMAND with its last lines when it fails
 */
export async function runToEnd(
  { command, env }: { command: readonly string[]; env: Readonly<Record<string, string>> },
  { asked, cwd, signal }: { asked: string; cwd: string; signal: AbortSignal },
): Promise<void> {
  signal.throwIfAborted();
  const [program, ...args] = command;
  const { child, letGo } = startGroup((mark) =>
    spawn(program!, args, {
      cwd,
      env: { ...process.env, ...mark, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    }),
  );
  let written = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      written = (written + chunk.toString()).slice(-keptCharacters);
    });
  }
  const end = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // The group has already exited.
    }
  };
  signal.addEventListener('abort', end);
  try {
    const how = await failureOf(child);
    // The group id may be reused after the exit.
    signal.removeEventListener('abort', end);
    signal.throwIfAborted();
    if (how === undefined) return;
    // Its last output may still be in the pipe.
    await Promise.race([once(child, 'close'), sleep(lastOutputMs)]);
    const lines = written.trim().split('\n').slice(-lastLines).join('\n  ');
    const tail = written.trim() === '' ? 'It wrote nothing.' : `Its last lines:\n  ${lines}`;
    throw new LabError('ERR_REDLINE_COMMAND', `${asked} "${command.join(' ')}" ${how}. ${tail}`);
  } finally {
    signal.removeEventListener('abort', end);
    child.stdout.destroy();
    child.stderr.destroy();
    child.unref();
    letGo();
  }
}

/** Describes how the command failed; undefined if it succeeded. */
function failureOf(child: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve) => {
    child.on('error', (error) => resolve(`cannot be started (${error.message})`));
    // Not 'close': a service that the command leaves running in the background keeps its streams open.
    child.on('exit', (code, by) =>
      resolve(code === 0 ? undefined : by ? `ended by ${by}` : `ended with exit code ${code}`),
    );
  });
}
