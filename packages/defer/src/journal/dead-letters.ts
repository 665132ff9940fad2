import { open, readdir, readFile, rename, stat, unlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { messageOf } from '../thrown.ts';
import { decodeJobRecord, encodeJobRecord, type JobRecord } from './job-record.ts';

/** A job that failed for good, and why. */
export interface DeadLetter {
  readonly record: JobRecord;
  /** `Error.stack`, or the value as text. */
  readonly reason: string;
  readonly diedAtMs: number;
}

/** A dead letter that cannot be read: its file is damaged, or belongs to another user. */
export interface UnreadableLetter {
  /** For `remove`. */
  readonly id: string;
  readonly file: string;
  /** Why it cannot be read. */
  readonly reason: string;
}

export interface ReadLetters {
  /** Oldest first. */
  readonly letters: DeadLetter[];
  readonly unreadable: UnreadableLetter[];
}

/** A store of dead letters. */
export interface DeadLetterBox {
  /** Resolves when the letter is safe. */
  put(letter: DeadLetter): Promise<void>;
  read(): Promise<ReadLetters>;
  /** The first of these. */
  oldest(count: number): Promise<DeadLetter[]>;
  /** @throws if it cannot be read */
  get(id: string): Promise<DeadLetter | undefined>;
  /** False when it does not exist (any more). */
  remove(id: string): Promise<boolean>;
  /** Its job is about to be requeued, and may die again at once: letters written from now on are separate. */
  release(id: string): Promise<void>;
  /** The job is requeued: removes the letter of `release`, not one written since. */
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
/** Names of letters whose jobs are being requeued. One left by a crash is a letter like any other. */
const releasedSuffix = '.requeued';

/** True for names of letters, among other files in the folder. */
export function isLetter(name: string): boolean {
  return name.endsWith(suffix) || name.endsWith(releasedSuffix);
}

/** One file for each letter, so that every process on the folder, including the command, can remove one. */
export class FileDeadLetters implements DeadLetterBox {
  readonly #folder: string;
  #size: number;
  /** How often this process has put or removed one. */
  #changes = 0;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(folder: string, size: number) {
    this.#folder = folder;
    this.#size = size;
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
        await writeSynced(`${path}.new`, encodeLetter(letter));
        await rename(`${path}.new`, path);
      } catch (error) {
        await unlink(`${path}.new`).catch(() => {});
        throw error;
      }
      // The job is done as far as its journal goes: the letter's name must be as safe as its text.
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
    // Behind a letter that is being requeued comes the one its job may have got since.
    for (const name of (await this.#names()).sort((a, b) => (a < b ? 1 : -1))) {
      const file = join(this.#folder, name);
      try {
        const letter = await readLetter(file);
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
    // By the times of the files: reading all of them for a few would take too much memory.
    const files: { path: string; atMs: number }[] = [];
    for (const name of await this.#names()) {
      const path = join(this.#folder, name);
      const { mtimeMs } = (await stat(path).catch(() => undefined)) ?? {};
      if (mtimeMs !== undefined) files.push({ path, atMs: mtimeMs });
    }
    files.sort((a, b) => a.atMs - b.atMs);
    const letters: DeadLetter[] = [];
    for (const { path } of files.slice(0, count)) {
      const letter = await readLetter(path).catch(() => undefined);
      if (letter !== undefined) letters.push(letter);
    }
    return letters;
  }

  async get(id: string): Promise<DeadLetter | undefined> {
    return (await readLetter(this.#pathOf(id))) ?? readLetter(this.#pathOf(id, releasedSuffix));
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

  /* An id may come from a request: it must not lead anywhere else. */
  #pathOf(id: string, ending: string = suffix): string {
    if (basename(id) !== id) throw new Error(`No dead letter has the id "${id}".`);
    return join(this.#folder, id + ending);
  }
}

function idOf(name: string): string {
  return name.slice(0, name.lastIndexOf('.'));
}

/* Undefined if another process has removed it. @throws if it cannot be read */
async function readLetter(path: string): Promise<DeadLetter | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  return decodeLetter(text);
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
  // Windows opens no folders; its file system journals them itself.
  const folder = await open(path, 'r').catch(() => undefined);
  if (folder === undefined) return;
  try {
    await folder.datasync();
  } finally {
    await folder.close();
  }
}

/* The reason as one line of JSON, then the record. */
function encodeLetter({ record, reason, diedAtMs }: DeadLetter): string {
  return `${JSON.stringify({ diedAtMs, reason })}\n${encodeJobRecord(record)}`;
}

function decodeLetter(text: string): DeadLetter {
  const lineEnd = text.indexOf('\n');
  const { diedAtMs, reason } = JSON.parse(text.slice(0, lineEnd)) as DeadLetter;
  return { record: decodeJobRecord(text.slice(lineEnd + 1)), reason, diedAtMs };
}
