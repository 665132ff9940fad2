import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { addAbortSignal, PassThrough, pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { LabError } from '../errors.ts';
import type { LoggedRequest } from './logged-request.ts';
import { LineParser } from './parse-line.ts';

export interface LogCounts {
  lines: number;
  requests: number;
  /** In order, and not about a finished request. */
  other: number;
  unreadable: number;
  /** The first few, to look at. */
  unreadableSamples: string[];
}

const mostSamples = 3;

/**
 * Calls back for each request of the logs, in their order. Compressed logs are recognised by their first bytes.
 * @param files `-` is standard input.
 * @throws {LabError} ERR_REDLINE_ACCESS_LOG when a file does not exist or no line describes a request
 */
export async function readAccessLog(
  files: readonly string[],
  onRequest: (request: LoggedRequest) => void,
  signal: AbortSignal,
): Promise<LogCounts> {
  const counts: LogCounts = {
    lines: 0,
    requests: 0,
    other: 0,
    unreadable: 0,
    unreadableSamples: [],
  };
  for (const file of files) await readFile(file, counts, onRequest, signal);
  if (counts.requests > 0) return counts;
  const sample = counts.unreadableSamples[0];
  throw new LabError(
    'ERR_REDLINE_ACCESS_LOG',
    counts.lines === 0
      ? `${files.join(', ')} contains no lines.`
      : `None of the ${counts.lines} lines in ${files.join(', ')} describes a request; supported logs: pino, winston, Nest, morgan, Caddy, nginx and Apache.${sample === undefined ? '' : ` The first that could not be read:\n  ${sample}`}`,
  );
}

async function readFile(
  file: string,
  counts: LogCounts,
  onRequest: (request: LoggedRequest) => void,
  signal: AbortSignal,
): Promise<void> {
  const parser = new LineParser();
  try {
    // Standard input may stay silent for long: an interrupt does not wait for the next line.
    const source = addAbortSignal(signal, file === '-' ? process.stdin : createReadStream(file));
    for await (const line of createInterface({ input: await plain(source), crlfDelay: Infinity })) {
      signal.throwIfAborted();
      counts.lines++;
      const parsed = parser.parse(line);
      if (parsed === 'other') counts.other++;
      else if (parsed !== 'unreadable') {
        counts.requests++;
        onRequest(parsed);
      } else if (++counts.unreadable <= mostSamples) {
        counts.unreadableSamples.push(line.slice(0, 160));
      }
    }
  } catch (cause) {
    signal.throwIfAborted();
    const { code, message } = cause as NodeJS.ErrnoException;
    const reason = code === 'ENOENT' ? 'no such file' : message;
    throw new LabError('ERR_REDLINE_ACCESS_LOG', `${file} cannot be read: ${reason}.`, { cause });
  }
}

async function plain(source: Readable): Promise<Readable> {
  const first = await firstChunk(source);
  const whole = new PassThrough();
  if (first !== undefined) whole.write(first);
  const isCompressed = first !== undefined && first[0] === 0x1f && first[1] === 0x8b;
  const last = isCompressed ? createGunzip() : new PassThrough();
  // An error of any of them reaches the reader of the last.
  pipeline(source, whole, last, () => {});
  return last;
}

function firstChunk(source: Readable): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      const chunk = source.read() as Buffer | null;
      if (chunk === null && !source.readableEnded) return void source.once('readable', settle);
      source.off('error', reject);
      resolve(chunk ?? undefined);
    };
    source.once('error', reject);
    source.once('end', () => resolve(undefined));
    source.once('readable', settle);
  });
}
