import { createReadStream } from 'node:fs';
import { addAbortSignal, PassThrough, pipeline, type Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { createGunzip } from 'node:zlib';
import { LabError } from '../errors.ts';
import { DeclaredFormat, guessFormat } from './declared-format.ts';
import type { LogCounts, LoggedRequest, MetFormat } from './logged-request.ts';
import { LineParser } from './parse-line.ts';

const maxSamples = 3;

/**
 * Calls back for each request of the logs, in order. Compressed logs are recognised by their first bytes.
 * @param files `-` is standard input.
 * @param options `format`: nginx's log_format or Apache's LogFormat, instead of the known formats.
 * @throws {LabError} ERR_REDLINE_ACCESS_LOG when a file does not exist or no line describes a request;
 *   ERR_REDLINE_OPTION when the format names no request
 */
export async function readAccessLog(
  files: readonly string[],
  onRequest: (request: LoggedRequest) => void,
  signal: AbortSignal,
  { format }: { format?: string | undefined } = {},
): Promise<LogCounts> {
  const counts: LogCounts & { formats: MetFormat[] } = {
    lines: 0,
    requests: 0,
    other: 0,
    unreadable: 0,
    unreadableSamples: [],
    formats: [],
    withoutBegin: 0,
  };
  const declared = format === undefined ? undefined : new DeclaredFormat(format);
  // One parser for all files: a request may begin in one and end in the next.
  const parser = new LineParser(declared);
  for (const file of files) await readFile({ file, parser, counts, onRequest }, signal);
  counts.formats = parser.formats;
  counts.withoutBegin = parser.withoutBegin;
  if (counts.requests > 0) return counts;
  throw nothingRead(files, counts, format);
}

function nothingRead(
  files: readonly string[],
  { lines, unreadableSamples }: LogCounts,
  format: string | undefined,
): LabError {
  const names = files.join(', ');
  const [sample] = unreadableSamples;
  if (lines === 0) return new LabError('ERR_REDLINE_ACCESS_LOG', `${names} contains no lines.`);
  const first = sample === undefined ? '' : ` The first that could not be read:\n  ${sample}`;
  const guess = sample === undefined || format !== undefined ? undefined : guessFormat(sample);
  const remedy =
    guess === undefined
      ? 'Name the fields with --format, as nginx\u2019s log_format or Apache\u2019s LogFormat has them.'
      : `By its look, it is read with --format '${guess}'.`;
  return new LabError(
    'ERR_REDLINE_ACCESS_LOG',
    `None of the ${lines} lines in ${names} describes a request${format === undefined ? ' in a known format' : ` in the format of --format`}.${first}\n${remedy}`,
  );
}

interface Reading {
  file: string;
  parser: LineParser;
  counts: LogCounts;
  onRequest: (request: LoggedRequest) => void;
}

async function readFile(
  { file, parser, counts, onRequest }: Reading,
  signal: AbortSignal,
): Promise<void> {
  const onLine = (line: string): void => {
    counts.lines++;
    const parsed = parser.parse(line);
    if (parsed === 'other') counts.other++;
    else if (parsed !== 'unreadable') {
      counts.requests++;
      onRequest(parsed);
    } else if (++counts.unreadable <= maxSamples) {
      counts.unreadableSamples.push(line.slice(0, 400));
    }
  };
  try {
    // Standard input may stay silent for a long time: an interrupt must not wait for the next line.
    const source = addAbortSignal(
      signal,
      file === '-' ? process.stdin : createReadStream(file, { highWaterMark: 1 << 20 }),
    );
    await eachLine(await plain(source), onLine, signal);
  } catch (cause) {
    signal.throwIfAborted();
    const { code, message } = cause as NodeJS.ErrnoException;
    const reason = code === 'ENOENT' ? 'no such file' : message;
    throw new LabError('ERR_REDLINE_ACCESS_LOG', `${file} cannot be read: ${reason}.`, { cause });
  }
}

/** A file with a longer line is not a log. */
const maxLineLength = 1 << 24;

/** Splits the lines itself: node:readline takes as long for a line as parsing it does. */
async function eachLine(
  source: Readable,
  onLine: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for await (const chunk of source) {
    signal.throwIfAborted();
    const text = rest + decoder.write(chunk as Buffer);
    let start = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      onLine(text.slice(start, text.charCodeAt(end - 1) === 13 && end > start ? end - 1 : end));
      start = end + 1;
    }
    rest = text.slice(start);
    if (rest.length > maxLineLength) throw new Error('a line of it is longer than 16 MB');
  }
  rest += decoder.end();
  if (rest !== '') onLine(rest);
}

async function plain(source: Readable): Promise<Readable> {
  const first = await firstChunk(source);
  const whole = new PassThrough();
  if (first !== undefined) whole.write(first);
  const isCompressed = first !== undefined && first[0] === 0x1f && first[1] === 0x8b;
  const last = isCompressed ? createGunzip() : new PassThrough();
  // An error in any of the streams reaches the reader of the last one.
  pipeline(source, whole, last, () => {});
  return last;
}

function firstChunk(source: Readable): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const readFirst = (): void => {
      const chunk = source.read() as Buffer | null;
      if (chunk === null && !source.readableEnded) return void source.once('readable', readFirst);
      source.off('error', reject);
      resolve(chunk ?? undefined);
    };
    source.once('error', reject);
    source.once('end', () => resolve(undefined));
    source.once('readable', readFirst);
  });
}
