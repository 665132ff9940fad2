import { open, readdir, readFile, rename, stat, unlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { KeyRing } from '../seal/key-ring.ts';
import { noteOf, openText, sealText, type Sealing } from '../seal/sealing.ts';
import { messageOf } from '../thrown.ts';
import { load, open as openSealed, type Sealed } from './sealed-frames.ts';
import { decodeJobRecord, encodeJobRecord, type JobRecord } from './job-record.ts';

/** A job that failed for good, and the reason. */
export interface DeadLetter {
  readonly record: JobRecord;
  /** `Error.stack`, or the value as text. */
  readonly reason: string;
  readonly diedAtMs: number;
  /** The id of the key that its file is sealed with. */
  readonly sealedWith?: string;
}

/** A dead letter that cannot be read: its file is damaged, or belongs to another user. */
export interface UnreadableLetter {
  /** For `remove`. */
  readonly id: string;
  readonly file: string;
  /** Reason why it cannot be read. */
  readonly reason: string;
}

export interface ReadLetters {
  /** Oldest first. */
  readonly letters: DeadLetter[];
  readonly unreadable: UnreadableLetter[];
}

export interface DeadLetterBox {
  /** Resolves when the letter is safe. */
  put(letter: DeadLetter): Promise<void>;
  read(): Promise<ReadLetters>;
  oldest(count: number): Promise<DeadLetter[]>;
  /** @throws if it cannot be read */
  get(id: string): Promise<DeadLetter | undefined>;
  /** Returns false if it does not exist, or no longer does. */
  remove(id: string): Promise<boolean>;
  /** Called before its job is requeued, which may die again at once: letters written from now on are separate. */
  release(id: string): Promise<void>;
  /** Called when the job is requeued: removes the letter of `release`, not one written since. */
  released(id: string): Promise<void>;
  readonly size: number;
}

/** Lives as long as the process: used without a journal. */
export class MemoryDeadLetters implements DeadLetterBox {
  readonly #letters = new Map<string, DeadLetter>();
  readonly #released = new Map<string, DeadLetter>();

  get size(): number {
    return this.#letters.size;
  }

  async put(letter: DeadLetter): Promise<void> {
    this.#letters.set(letter.record.id, letter);
  }

  async read(): Promise<ReadLetters> {
    return { letters: [...this.#letters.values()], unreadable: [] };
  }

  async oldest(count: number): Promise<DeadLetter[]> {
    return [...this.#letters.values()].slice(0, count);
  }

  async get(id: string): Promise<DeadLetter | undefined> {
    return this.#letters.get(id);
  }

  async remove(id: string): Promise<boolean> {
    return this.#letters.delete(id);
  }

  async release(id: string): Promise<void> {
    const letter = this.#letters.get(id);
    if (letter !== undefined) this.#released.set(id, letter);
  }

  async released(id: string): Promise<void> {
    if (this.#letters.get(id) === this.#released.get(id)) this.#letters.delete(id);
    this.#released.delete(id);
  }
}

const atOnce = 16;
const suffix = '.dead';
/** Ending of the names of letters whose jobs are being requeued. A letter that a crash leaves there is a letter like any other. */
const releasedSuffix = '.requeued';

/** True for names of letters, among other files in the folder. */
export function isLetter(name: string): boolean {
  return name.endsWith(suffix) || name.endsWith(releasedSuffix);
}

/** One file for each letter, so that every process on the folder, including the command, can remove one. */
export class FileDeadLetters implements DeadLetterBox {
  readonly #folder: string;
  readonly #keys: KeyRing | undefined;
  #size: number;
  /** Number of times this process has put or removed one. */
  #changes = 0;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  /** @param keys Keys that seal new letters and open sealed ones. */
  constructor(folder: string, size: number, keys: KeyRing | undefined) {
    this.#folder = folder;
    this.#size = size;
    this.#keys = keys;
  }

  /** As of the last `list`, plus the changes by this process since. */
  get size(): number {
    return this.#size;
  }

  async put(letter: DeadLetter): Promise<void> {
    if (this.#running === atOnce) await new Promise<void>((go) => void this.#waiting.push(go));
    else this.#running++;
    try {
      const path = this.#pathOf(letter.record.id);
      try {
        await writeSynced(`${path}.new`, this.#encode(letter));
        await rename(`${path}.new`, path);
      } catch (error) {
        await unlink(`${path}.new`).catch(() => {});
        throw error;
      }
      // The job is done as far as its journal knows: the letter's name must be as safe as its text.
      await syncFolder(this.#folder);
      this.#count(1);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }

  async read(): Promise<ReadLetters> {
    const letters = new Map<string, DeadLetter>();
    const unreadable: UnreadableLetter[] = [];
    // A letter that is being requeued is followed by the one its job may have got since.
    for (const name of (await this.#names()).sort((a, b) => (a < b ? 1 : -1))) {
      const file = join(this.#folder, name);
      try {
        const letter = await this.#read(file);
        if (letter !== undefined) letters.set(letter.record.id, letter);
      } catch (error) {
        unreadable.push({ id: idOf(name), file, reason: messageOf(error) });
      }
    }
    return {
      letters: [...letters.values()].sort((a, b) => a.diedAtMs - b.diedAtMs),
      unreadable,
    };
  }

  async oldest(count: number): Promise<DeadLetter[]> {
    // Sorted by the times of the files: reading all of them for a few would take too much memory.
    const files: { path: string; atMs: number }[] = [];
    for (const name of await this.#names()) {
      const path = join(this.#folder, name);
      const { mtimeMs } = (await stat(path).catch(() => undefined)) ?? {};
      if (mtimeMs !== undefined) files.push({ path, atMs: mtimeMs });
    }
    files.sort((a, b) => a.atMs - b.atMs);
    const letters: DeadLetter[] = [];
    for (const { path } of files.slice(0, count)) {
      const letter = await this.#read(path).catch(() => undefined);
      if (letter !== undefined) letters.push(letter);
    }
    return letters;
  }

  async get(id: string): Promise<DeadLetter | undefined> {
    return (await this.#read(this.#pathOf(id))) ?? this.#read(this.#pathOf(id, releasedSuffix));
  }

  async remove(id: string): Promise<boolean> {
    const isRemoved = await this.#unlink(this.#pathOf(id));
    return (await this.#unlink(this.#pathOf(id, releasedSuffix))) || isRemoved;
  }

  async release(id: string): Promise<void> {
    await rename(this.#pathOf(id), this.#pathOf(id, releasedSuffix)).catch(() => {});
  }

  async released(id: string): Promise<void> {
    await this.#unlink(this.#pathOf(id, releasedSuffix));
  }

  /**
   * Makes sure that the keys of all letters are available. A letter that cannot be read does not count: `read` reports it.
   * @throws {DeferError} ERR_REDLINE_DEFER_SEAL
   */
  async checkKeys(): Promise<void> {
    const names = await this.#names().catch(() => []);
    const paths = names.map((name) => join(this.#folder, name));
    const checkNext = async (): Promise<void> => {
      for (let path = paths.pop(); path !== undefined; path = paths.pop()) {
        const text = await textOf(path).catch(() => undefined);
        await openLetter(path, text ?? '', this.#keys);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, checkNext));
  }

  #encode(letter: DeadLetter): string {
    const text = encodeLetter(letter);
    if (this.#keys === undefined) return text;
    return sealText(text, this.#keys.current, placeOfLetter(letter.record.id));
  }

  /* Returns undefined if another process has removed it. @throws if it cannot be read */
  async #read(path: string): Promise<DeadLetter | undefined> {
    const text = await textOf(path);
    if (text === undefined) return undefined;
    const sealing = await openLetter(path, text, this.#keys);
    if (sealing === undefined) return decodeLetter(text);
    const opened = openText(text, sealing);
    if (opened === undefined) throw new Error('Its bytes differ from what was written');
    return { ...decodeLetter(opened), sealedWith: sealing.keyId };
  }

  async #unlink(path: string): Promise<boolean> {
    try {
      await unlink(path);
    } catch {
      return false;
    }
    this.#count(-1);
    return true;
  }

  /* Includes the changes by others, unless this process changes letters meanwhile. */
  async #names(): Promise<string[]> {
    const changes = this.#changes;
    const names = (await readdir(this.#folder)).filter(isLetter);
    if (changes === this.#changes) this.#size = names.length;
    return names;
  }

  #count(difference: number): void {
    this.#size = Math.max(0, this.#size + difference);
    this.#changes++;
  }

  /* An id may come from a request: it must not lead outside the folder. */
  #pathOf(id: string, ending: string = suffix): string {
    if (basename(id) !== id) throw new Error(`No dead letter has the id "${id}".`);
    return join(this.#folder, id + ending);
  }
}

function idOf(name: string): string {
  return name.slice(0, name.lastIndexOf('.'));
}

/* Returns undefined if another process has removed it. @throws if it cannot be read */
async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/* Returns undefined for a letter in clear. @throws {DeferError} ERR_REDLINE_DEFER_SEAL */
async function openLetter(
  path: string,
  text: string,
  keys: KeyRing | undefined,
): Promise<Sealing | undefined> {
  const sealed = sealedLetter(path, text);
  if (sealed === undefined) return undefined;
  await load(sealed, keys);
  return openSealed(sealed, keys!);
}

/** Returns undefined for a letter in clear. `text` may be its beginning. */
export function sealedLetter(path: string, text: string): Sealed | undefined {
  const note = noteOf(text);
  return note && { file: path, place: placeOfLetter(idOf(basename(path))), note };
}

/* Excludes the ending, which changes while the job is requeued. */
function placeOfLetter(id: string): string {
  return `letter ${id}`;
}

async function writeSynced(path: string, text: string): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.datasync();
  } finally {
    await file.close();
  }
}

async function syncFolder(path: string): Promise<void> {
  // Windows does not open folders; its file system journals them itself.
  const folder = await open(path, 'r').catch(() => undefined);
  if (folder === undefined) return;
  try {
    await folder.datasync();
  } finally {
    await folder.close();
  }
}

/* Writes the reason as one line of JSON, then the record. */
function encodeLetter({ record, reason, diedAtMs }: DeadLetter): string {
  return `${JSON.stringify({ diedAtMs, reason })}\n${encodeJobRecord(record)}`;
}

function decodeLetter(text: string): DeadLetter {
  const lineEnd = text.indexOf('\n');
  const { diedAtMs, reason } = JSON.parse(text.slice(0, lineEnd)) as DeadLetter;
  return { record: decodeJobRecord(text.slice(lineEnd + 1)), reason, diedAtMs };
}
