import { createHash, randomBytes } from 'node:crypto';
import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

/** The moment of a schedule that some process has taken. */
export interface Claim {
  readonly tickMs: number;
  /** The folder of the journal of the process that took it. */
  readonly owner: string;
  /** Its job is deferred. */
  readonly isDone: boolean;
}

/**
 * Which process of a journal's directory runs which moment of a schedule: a file for each, made by `link(2)`, which
 * succeeds for one process alone and has the file there as a whole. It names the journal of its process, so that another
 * one takes the moment over if that ends before the job is deferred.
 */
export class Claims {
  readonly #folder: string;

  constructor(directory: string) {
    this.#folder = join(directory, 'schedules');
  }

  /** Those of the schedule that are there: the last one, and any whose job is not deferred. @throws the error of the file system */
  all(name: string): Claim[] {
    return this.#ticks(name)
      .map((tickMs) => this.read(name, tickMs))
      .filter((claim) => claim !== undefined);
  }

  /** @throws the error of the file system */
  read(name: string, tickMs: number): Claim | undefined {
    try {
      return parse(readFileSync(this.#file(name, tickMs), 'utf8'), tickMs);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** False where another process has it. @throws the error of the file system */
  take(name: string, tickMs: number, owner: string): boolean {
    mkdirSync(this.#folder, { recursive: true });
    const made = this.#write(name, { tickMs, owner, isDone: false });
    try {
      linkSync(made, this.#file(name, tickMs));
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw error;
    } finally {
      rmSync(made, { force: true });
    }
  }

  /** Takes it from a process that has ended. False where another one was faster. @throws the error of the file system */
  takeFrom(claim: Claim, name: string, owner: string): boolean {
    const file = this.#file(name, claim.tickMs);
    const aside = this.#aside();
    try {
      renameSync(file, aside);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
      throw error;
    }
    try {
      const now = parse(readFileSync(aside, 'utf8'), claim.tickMs);
      // Another one took it in between, or has found its job.
      if (now.owner !== claim.owner || now.isDone) {
        linkSync(aside, file);
        return false;
      }
    } finally {
      rmSync(aside, { force: true });
    }
    return this.take(name, claim.tickMs, owner);
  }

  /** The job of this moment is deferred. @throws the error of the file system */
  done(name: string, tickMs: number, owner: string): void {
    renameSync(this.#write(name, { tickMs, owner, isDone: true }), this.#file(name, tickMs));
    // The last one stays, as a word on what was missed, and those that are not done.
    const done = this.all(name).filter(({ isDone }) => isDone);
    const lastMs = Math.max(...done.map((claim) => claim.tickMs));
    for (const claim of done) {
      if (claim.tickMs < lastMs) rmSync(this.#file(name, claim.tickMs), { force: true });
    }
  }

  #write(name: string, claim: Claim): string {
    const file = this.#aside();
    writeFileSync(file, JSON.stringify({ name, ...claim }));
    return file;
  }

  #aside(): string {
    return join(this.#folder, `${randomBytes(8).toString('hex')}.new`);
  }

  #ticks(name: string): number[] {
    const prefix = `${hashOf(name)}@`;
    let names: string[];
    try {
      names = readdirSync(this.#folder);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
    return names
      .filter((each) => each.startsWith(prefix))
      .map((each) => Number(each.slice(prefix.length)))
      .filter(Number.isSafeInteger);
  }

  #file(name: string, tickMs: number): string {
    return join(this.#folder, `${hashOf(name)}@${tickMs}`);
  }
}

/* A power failure leaves a name without its bytes: then it is not known whether the job was deferred. */
function parse(text: string, tickMs: number): Claim {
  try {
    const { owner, isDone } = JSON.parse(text) as Claim;
    return { tickMs, owner, isDone };
  } catch {
    return { tickMs, owner: '', isDone: false };
  }
}

function hashOf(name: string): string {
  return createHash('sha256').update(name).digest('hex').slice(0, 24);
}
