import { LabError } from '../errors.ts';

/**
 * Starts another copy next to a running copy of the app. An app with a lock, a fixed extra port or its own database refuses that:
 * the running copy is then stopped, and the new one is started alone.
 * @returns the value, with the app's message if it refused
 * @throws the error of the second attempt: the copy fails alone as well
 */
export async function startSecondCopy<Value>(
  running: AsyncDisposable,
  start: () => Promise<Value>,
  signal: AbortSignal,
): Promise<{ value: Value; refusal: string | undefined }> {
  try {
    return { value: await start(), refusal: undefined };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof LabError) || error.code === 'ERR_REDLINE_LAUNCHER') throw error;
    await running[Symbol.asyncDispose]();
    return { value: await start(), refusal: refusalIn(error) };
  }
}

const refusalWords =
  /already|another|lock|in use|EADDRINUSE|EAGAIN|EBUSY|EEXIST|single instance|unavailable/i;
const maxLength = 120;

/** Picks the one of a server's last lines that gives the reason, or the first that is an error. */
function refusalIn({ message }: LabError): string {
  const [what = '', ...lines] = message.split('\n').map((each) => each.trim());
  const reason =
    lines.find((each) => refusalWords.test(each)) ??
    lines.find((each) => /error/i.test(each)) ??
    lines.find((each) => each !== '') ??
    what;
  const text = reason.replaceAll(/\s+/g, ' ').replace(/[.:]$/, '');
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
}
