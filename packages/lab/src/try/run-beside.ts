import { LabError } from '../errors.ts';

/**
 * Starts something beside a copy of the app that runs. An app with a lock, a fixed extra port or a database of its own refuses
 * that: then the other copy is stopped, and it is started alone.
 * @returns with the words of the app where it refused
 * @throws what the second attempt throws: alone it fails as well
 */
export async function beside<Value>(
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

const says =
  /already|another|lock|in use|EADDRINUSE|EAGAIN|EBUSY|EEXIST|single instance|unavailable/i;
const longest = 120;

/** Of the last lines of a server the one that says why, or the first that is an error. */
function refusalIn({ message }: LabError): string {
  const [what = '', ...lines] = message.split('\n').map((each) => each.trim());
  const reason =
    lines.find((each) => says.test(each)) ??
    lines.find((each) => /error/i.test(each)) ??
    lines.find((each) => each !== '') ??
    what;
  const text = reason.replaceAll(/\s+/g, ' ').replace(/[.:]$/, '');
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}
