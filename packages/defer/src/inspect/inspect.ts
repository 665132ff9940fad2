import { closeSync, existsSync, openSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DeferError, optionError } from '../errors.ts';
import { FileDeadLetters, isLetter } from '../journal/dead-letters.ts';
import { oneOf, wholeNumber } from '../validate.ts';
import {
  jobsByName,
  readDirectory,
  type ListedJob,
  type ListedState,
  type Listing,
} from '../directory/read-directory.ts';
import { KeyRing } from '../seal/key-ring.ts';
import { requeue } from '../directory/requeue.ts';
import { pathToFileURL } from 'node:url';
import { resolveSeal, type SealOptions } from '../seal/seal-options.ts';
import { messageOf } from '../thrown.ts';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { directorySource } from '../page/source.ts';
import { pageHandler } from '../page/handler.ts';

export interface InspectOptions {
  export?: boolean;
  requeue?: boolean;
  remove?: boolean;
  serve?: boolean;
  seal?: string;
  port?: string;
  all?: boolean;
  json?: boolean;
  state?: string;
  id?: string[];
  job?: string;
  sink?: string;
  limit?: string;
}

const states: readonly ListedState[] = ['waiting', 'delayed', 'sent', 'dead'];

/** Performs the requested action; returns the exit status. */
export async function runInspect(
  directory: string,
  options: InspectOptions,
  write: (text: string) => void,
): Promise<number> {
  const actions = (['export', 'requeue', 'remove', 'serve'] as const).filter(
    (action) => options[action],
  );
  if (actions.length > 1) {
    throw optionError(`--${actions.join(' and --')} exclude each other.`);
  }
  if (options.state !== undefined) oneOf('--state', options.state, states);
  const limit = wholeNumber('--limit', Number(options.limit ?? 50));
  const keys = options.seal === undefined ? undefined : await readKeys(options.seal);
  const listing = await read(directory, keys);
  if (options.serve === true) {
    return serve(directory, wholeNumber('--port', Number(options.port ?? 0)), keys, write);
  }
  const isMeant = chooser(options);
  switch (actions[0]) {
    case 'export':
      for (const job of listing.jobs.filter(isMeant)) write(`${JSON.stringify(exported(job))}\n`);
      return 0;
    case 'requeue':
      return requeueJobs(directory, listing, options, keys, write);
    case 'remove':
      return removeLetters(directory, listing, options, write);
    default:
      if (options.json === true) write(`${JSON.stringify(asJson(listing, isMeant), null, 2)}\n`);
      else list(listing, isMeant, limit, write);
      return isDamaged(listing) ? 1 : 0;
  }
}

function isDamaged({ journals, unreadable }: Listing): boolean {
  if (unreadable.length > 0) return true;
  return journals.some(({ damages }) => damages.some(({ kind }) => kind !== 'torn'));
}

async function requeueJobs(
  directory: string,
  { jobs }: Listing,
  options: InspectOptions,
  keys: KeyRing | undefined,
  write: (text: string) => void,
): Promise<number> {
  const { state = options.id === undefined ? 'dead' : undefined } = options;
  if (state === 'waiting' || state === 'delayed') {
    throw optionError('Waiting jobs run anyway: there is nothing to requeue.');
  }
  const isMeant = chooser({ ...options, ...(state !== undefined && { state }) });
  const meant = jobs.filter(
    (job) => (job.state === 'sent' || job.state === 'dead') && isMeant(job),
  );
  const records = meant.map(({ record }) => record);
  if (records.length > 0) await requeue(directory, records, true, keys);
  write(
    `${count(records.length)} requeued${records.length > 0 ? '; a running app takes them within seconds, otherwise the next one' : ''}.\n`,
  );
  return records.length === 0 && options.id !== undefined ? 1 : 0;
}

async function removeLetters(
  directory: string,
  { jobs, unreadable }: Listing,
  options: InspectOptions,
  write: (text: string) => void,
): Promise<number> {
  const { id, job, sink, all } = options;
  if (id === undefined && job === undefined && sink === undefined && all !== true) {
    throw optionError('--remove deletes jobs: say which, with --id, --job or --sink, or --all.');
  }
  const letters = new FileDeadLetters(join(directory, 'dead'), 0, undefined);
  const isMeant = chooser({ ...options, state: 'dead' });
  // The job and the sink of an unreadable letter are unknown.
  const damaged = unreadable.filter((letter) => id?.includes(letter.id));
  const ids = [
    ...jobs.filter(isMeant).map(({ record }) => record.id),
    ...damaged.map((each) => each.id),
  ];
  let removed = 0;
  for (const each of new Set(ids)) if (await letters.remove(each)) removed++;
  write(`${removed} dead ${removed === 1 ? 'letter' : 'letters'} removed.\n`);
  return removed === 0 && id !== undefined ? 1 : 0;
}

function list(
  { journals, jobs, unreadable }: Listing,
  isMeant: (job: ListedJob) => boolean,
  limit: number,
  write: (text: string) => void,
): void {
  if (journals.length === 0) write('No journals.\n');
  for (const { id, owner, bytes, keys, damages } of journals) {
    const own = jobs.filter(({ journal }) => journal === id);
    const waiting = countOf(own, 'waiting');
    const delayed = countOf(own, 'delayed');
    write(
      `journal ${id}  ${describeOwner[owner]}  ${waiting} waiting, ${delayed > 0 ? `${delayed} delayed, ` : ''}${countOf(own, 'sent')} sent, ${(bytes / 1_024).toFixed(0)} KiB${keys.length > 0 ? `, sealed with ${keys.join(', ')}` : ''}\n`,
    );
    for (const { file, offset, bytes: length, kind, jobs: lost } of damages) {
      const place =
        kind === 'missing' || kind === 'unreadable' ? '' : `${length} bytes at ${offset} of `;
      const lacks = lost === undefined ? '' : `, up to ${lost} jobs`;
      write(`  ${kind}: ${place}${file}${lacks}\n`);
    }
  }
  const letterKeys = new Set(jobs.flatMap(({ sealedWith }) => sealedWith ?? []));
  if (letterKeys.size > 0) write(`dead letters are sealed with ${[...letterKeys].join(', ')}\n`);
  for (const { id, file, reason } of unreadable) {
    write(`unreadable: the dead letter ${id}, ${file}: ${shorten(reason, 90)}\n`);
  }
  const meant = jobs.filter(isMeant);
  for (const { sink, job, depth, oldestAtMs, dead, failures, lastFailure } of jobsByName(meant)) {
    const age = oldestAtMs === undefined ? '' : `, the oldest of ${isoOf(oldestAtMs)}`;
    write(`${sink} ${job}  ${depth} waiting${age}, ${dead} dead, ${failures} failed attempts\n`);
    if (lastFailure === undefined) continue;
    write(`  last failure: ${isoOf(lastFailure.atMs)}  ${shorten(lastFailure.message, 90)}\n`);
  }
  const shown = limit === 0 ? meant : meant.slice(0, limit);
  write(`${count(meant.length)}\n`);
  for (const { state, record, reason } of shown) {
    const { id, sink, job, key, deferredAtMs, runAtMs, json } = record;
    const at = isoOf(deferredAtMs);
    const keyText = key === undefined ? '' : `  key ${key}`;
    const until = state === 'delayed' ? `  until ${isoOf(runAtMs!)}` : '';
    write(
      `${state.padEnd(7)}  ${id}  ${at}  ${sink}  ${job}${keyText}${until}  ${shorten(json, 60)}\n`,
    );
    if (reason !== undefined) write(`         ${shorten(reason.split('\n')[0]!, 110)}\n`);
  }
  if (shown.length < meant.length) write(`… ${meant.length - shown.length} more: --limit 0\n`);
}

const describeOwner = {
  running: 'its process runs',
  free: 'no process owns it',
  gone: 'its process has exited',
  elsewhere: 'of another container or host',
};

function asJson(
  { journals, jobs, unreadable }: Listing,
  isMeant: (job: ListedJob) => boolean,
): object {
  const meant = jobs.filter(isMeant);
  return { journals, names: jobsByName(meant), jobs: meant.map(exported), unreadable };
}

/* Flat, with the data as JSON, not as text. */
function exported({ state, journal, reason, record }: ListedJob): object {
  const { json, ...rest } = record;
  return {
    state,
    ...rest,
    data: JSON.parse(json),
    journal,
    ...(reason !== undefined && { reason }),
  };
}

function chooser({ state, id, job, sink }: InspectOptions): (listed: ListedJob) => boolean {
  return ({ state: itsState, record }) =>
    (state === undefined || state === itsState) &&
    (id === undefined || id.includes(record.id)) &&
    (job === undefined || job === record.job) &&
    (sink === undefined || sink === record.sink);
}

async function read(directory: string, keys: KeyRing | undefined): Promise<Listing> {
  try {
    const listing = await readDirectory(directory, keys);
    checkLetters(join(directory, 'dead'));
    return listing;
  } catch (cause) {
    if (cause instanceof DeferError) throw cause;
    throw new DeferError(
      'ERR_REDLINE_DEFER_JOURNAL',
      `${directory} cannot be read: ${(cause as Error).message}.`,
      { cause },
    );
  }
}

/* For another user, all letters would be unreadable. @throws */
function checkLetters(folder: string): void {
  if (!existsSync(folder)) return; // No job has failed yet.
  for (const name of readdirSync(folder).filter(isLetter)) {
    try {
      closeSync(openSync(join(folder, name), 'r'));
    } catch (error) {
      // The app has requeued or removed it meanwhile.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
}

function countOf(jobs: readonly ListedJob[], which: ListedState): number {
  return jobs.filter(({ state }) => state === which).length;
}

function count(jobs: number): string {
  return `${jobs} ${jobs === 1 ? 'job' : 'jobs'}`;
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}

function shorten(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}

/** Loads the keys of a module whose default export is `journal.seal`. @throws {DeferError} ERR_REDLINE_DEFER_OPTION */
export async function readKeys(file: string): Promise<KeyRing> {
  let loaded: { default?: SealOptions };
  try {
    loaded = (await import(pathToFileURL(resolve(file)).href)) as { default?: SealOptions };
  } catch (cause) {
    throw optionError(`--seal: ${file} cannot be loaded: ${messageOf(cause)}.`, cause);
  }
  const options = resolveSeal(loaded.default);
  if (options !== undefined) return new KeyRing(options);
  throw optionError(
    `--seal: ${file} has no default export; it must be the option journal.seal of the app.`,
  );
}

/** Serves the page of a journal directory on loopback until the process is asked to stop. */
export async function serve(
  directory: string,
  port: number,
  keys: KeyRing | undefined,
  write: (text: string) => void,
): Promise<number> {
  const page = pageHandler(directorySource(directory, keys));
  const server = createServer((request, response) => {
    // Another site's name may be made to point here: its pages must not read this one.
    if (!isLoopback(request.headers.host)) {
      response.writeHead(421).end('This page is served to localhost only.\n');
      return;
    }
    page(request, response);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  write(`http://127.0.0.1:${(server.address() as AddressInfo).port}/  Ctrl-C stops it.\n`);
  const stopped = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  await stopped;
  server.close();
  server.closeAllConnections();
  return 0;
}

function isLoopback(host: string | undefined): boolean {
  return /^(?:localhost|127\.0\.0\.1)(?::\d+)?$/i.test(host ?? '');
}
