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

/** A moment of a schedule that some process has taken. */
export interface Claim {
  readonly tickMs: number;
  /** The folder of the journal of the process that took it. */
  readonly owner: string;
  /** True once its job is deferred. */
  readonly isDone: boolean;
}

/**
 * Decides which process of a journal's directory runs a moment of a schedule: one file for each moment, made by `link(2)`, which
 * succeeds for a single process and makes the file appear complete. It names the journal of that process, so that another one
 * can take the moment over if it ends before it has deferred the job.
 */
export class Claims {
  readonly #folder: string;
  readonly #isSealed: boolean;

  /** @param isSealed Leaves the schedule's name out of the files: it may be that of a customer. */
  constructor(directory: string, isSealed: boolean) {
    this.#isSealed = isSealed;
    this.#folder = join(directory, 'schedules');
  }

  /**
   * Returns the claims of a schedule: the last one, and each whose job is not deferred yet. @throws the error of the file system
   */
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

  /** Returns false if another process has it. @throws the error of the file system */
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

  /**
   * Takes the claim of a process that has ended. Returns false if another process was faster. @throws the error of the file system
   */
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
      // Another process has taken it since, or has found its job.
      if (now.owner !== claim.owner || now.isDone) {
        linkSync(aside, file);
        return false;
      }
    } finally {
      rmSync(aside, { force: true });
    }
    return this.take(name, claim.tickMs, owner);
  }

  /** Records that the job of this moment is deferred. @throws the error of the file system */
  done(name: string, tickMs: number, owner: string): void {
    renameSync(this.#write(name, { tickMs, owner, isDone: true }), this.#file(name, tickMs));
    // The last one stays, since it shows what was missed, and so do those that are not done.
    const done = this.all(name).filter(({ isDone }) => isDone);
    const lastMs = Math.max(...done.map((claim) => claim.tickMs));
    for (const claim of done) {
      if (claim.tickMs < lastMs) rmSync(this.#file(name, claim.tickMs), { force: true });
    }
  }

  #write(name: string, claim: Claim): string {
    const file = this.#aside();
    // No process reads the name; it is for people.
    writeFileSync(file, JSON.stringify(this.#isSealed ? claim : { name, ...claim }));
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

/* A power failure may leave an empty file: the job counts as not deferred. */
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
