import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { LabError } from '../errors.ts';
import { endChild, startChild } from '../system/guardian.ts';

/**
 * Sends one question to a program beside this one, in its own process, and resolves with its one answer: a load must not share a
 * thread, or a garbage collection, with the runner.
 * @param program File name, as built.
 * @param what Name of the program in the error.
 */
export async function askProcess<Answer>(
  program: string,
  what: string,
  question: object,
  signal: AbortSignal,
): Promise<Answer> {
  // Detached, so that Ctrl-C reaches only the runner.
  const child = startChild((mark) =>
    fork(fileURLToPath(new URL(program, import.meta.url)), {
      detached: true,
      env: { ...process.env, ...mark },
    }),
  );
  const abort = (): void => void child.kill('SIGKILL');
  signal.addEventListener('abort', abort);
  try {
    child.send(question);
    const exited = once(child, 'exit').then(() => undefined);
    const answered = once(child, 'message').then(([message]) => message as Answer);
    const answer = await Promise.race([answered, exited]);
    signal.throwIfAborted();
    if (answer === undefined) {
      throw new LabError('ERR_REDLINE_LOAD', `${what} exited without a result.`);
    }
    return answer;
  } finally {
    signal.removeEventListener('abort', abort);
    await endChild(child);
  }
}
