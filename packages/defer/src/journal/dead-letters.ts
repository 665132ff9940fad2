import { open, readdir, readFile, rename, unlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { decodeJobRecord, encodeJobRecord, type JobRecord } from './job-record.ts';

/** A job that could not be done, and why. */
export interface DeadLetter {
  readonly record: JobRecord;
  /** `Error.stack`, or the value as text. */
  readonly reason: string;
  readonly diedAtMs: number;
}

/** Where dead letters lie. */
export interface DeadLetterBox {
  /** Resolves when the letter is safe. */
  put(letter: DeadLetter): Promise<void>;
  /** Oldest first. */
  list(): Promise<DeadLetter[]>;
  get(id: string): Promise<DeadLetter | undefined>;
  /** False when it is not there (any more). */
  remove(id: string): Promise<boolean>;
  readonly size: number;
}

/** As long as the process: what there is without a journal. */
export class MemoryDeadLetters implements DeadLetterBox {
  readonly #letters = new Map<string, DeadLetter>();

  get size(): number {
    return this.#letters.size;
  }

  async put(letter: DeadLetter): Promise<void> {
    this.#letters.set(letter.record.id, letter);
  }

  async list(): Promise<DeadLetter[]> {
    return [...this.#letters.values()];
  }

  async get(id: string): Promise<DeadLetter | undefined> {
    return this.#letters.get(id);
  }

  async remove(id: string): Promise<boolean> {
    return this.#letters.delete(id);
  }
}

const atOnce = 16;
const suffix = '.dead';

/** One file for each letter, so that every process on the folder, the command among them, can take one away. */
export class FileDeadLetters implements DeadLetterBox {
  readonly #folder: string;
  #size: number;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(folder: string, size: number) {
    this.#folder = folder;
    this.#size = size;
  }

  /** As of the last `list`, and of what this process has put and removed since. */
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
      this.#size++;
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }

  async list(): Promise<DeadLetter[]> {
    const names = (await readdir(this.#folder)).filter((name) => name.endsWith(suffix)).sort();
    const letters: DeadLetter[] = [];
    for (const name of names) {
      try {
        letters.push(decodeLetter(await readFile(join(this.#folder, name), 'utf8')));
      } catch {
        // Taken away by another process, or not a letter of ours.
      }
    }
    this.#size = letters.length;
    return letters.sort((a, b) => a.diedAtMs - b.diedAtMs);
  }

  async get(id: string): Promise<DeadLetter | undefined> {
    try {
      return decodeLetter(await readFile(this.#pathOf(id), 'utf8'));
    } catch {
      return undefined;
    }
  }

  async remove(id: string): Promise<boolean> {
    try {
      await unlink(this.#pathOf(id));
      this.#size = Math.max(0, this.#size - 1);
      return true;
    } catch {
      return false;
    }
  }

  /* An id may come from a request: it leads nowhere else. */
  #pathOf(id: string): string {
    if (basename(id) !== id) throw new Error(`There is no dead letter "${id}".`);
    return join(this.#folder, id + suffix);
  }
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
