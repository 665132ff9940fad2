import { optionError } from '../errors.ts';
import { untilAborted } from '../delivery/until-aborted.ts';

/**
 * Quotes a name, or a schema and a name.
 *
 * @throws {DeferError} ERR_REDLINE_DEFER_OPTION: it is neither
 */
export function quoteTable(table: string, quote: '"' | '`' = '"'): string {
  const parts = table.split('.');
  if (parts.length > 2 || parts.some((part) => part === '' || part.includes('\0'))) {
    throw optionError(
      `The option table must be a name, or a schema and a name with a dot between them; got ${JSON.stringify(table)}.`,
    );
  }
  return parts.map((part) => quote + part.replaceAll(quote, quote + quote) + quote).join('.');
}

/** Limit of the wait for a table: a pool may have no other connection than the caller's, and neither would ever continue. */
export const maxTableWaitMs = 2_000;

/** Creates a table if it does not exist: once, regardless of the number of calls. */
export class TableCreator {
  readonly #create: (() => Promise<unknown>) | undefined;
  #created: Promise<unknown> | undefined;
  #isDone: boolean;

  /** @param create Runs a `create table if not exists`; undefined if the caller creates the table. */
  constructor(create: (() => Promise<unknown>) | undefined) {
    this.#create = create;
    this.#isDone = create === undefined;
  }

  /** True once the table is known to exist, or if the caller creates it. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** Rejects if the table can be neither found nor created; the next call tries again. */
  async create(): Promise<void> {
    if (this.#isDone) return;
    this.#created ??= this.#create!().catch((error: unknown) => {
      this.#created = undefined;
      throw error;
    });
    await this.#created;
    this.#isDone = true;
  }

  /** Rejects with a TimeoutError when it takes too long. */
  createSoon(): Promise<void> {
    return untilAborted(this.create(), AbortSignal.timeout(maxTableWaitMs));
  }
}
