import type { KeyObject } from 'node:crypto';
import { sealError } from '../errors.ts';
import { isPromise } from '../validate.ts';
import { messageOf } from '../thrown.ts';
import {
  toKeyObject,
  toKnownKey,
  type KnownKey,
  type SealKey,
  type SealKeyBytes,
  type SealOptions,
} from './seal-options.ts';

/**
 * The keys that the callbacks of `journal.seal` have returned. A callback may ask a KMS, but a job is sealed within the call that
 * defers it: keys are fetched ahead, and looked up without waiting.
 */
export class KeyRing {
  readonly renewEveryMs: number;
  readonly #options: Required<SealOptions>;
  readonly #keys = new Map<string, KeyObject>();
  #current: KnownKey | undefined;

  constructor(options: Required<SealOptions>) {
    this.#options = options;
    this.renewEveryMs = options.renewEveryMs;
  }

  /** The key for new records. @throws {DeferError} ERR_REDLINE_DEFER_SEAL: it has not been fetched yet */
  get current(): KnownKey {
    if (this.#current !== undefined) return this.#current;
    throw sealError(
      'The key of the journal has not been fetched yet: await deferrer.ready() before the server listens.',
    );
  }

  /** Returns undefined if it has not been loaded. */
  get(id: string): KeyObject | undefined {
    return this.#keys.get(id);
  }

  /**
   * Fetches the key for new records; waits only if the callback does.
   * @throws {DeferError} ERR_REDLINE_DEFER_SEAL
   */
  renew(): void | Promise<void> {
    return whenGiven(
      () => this.#options.currentKey(),
      (key) => this.#use(key),
      (reason) => `journal.seal.currentKey failed: ${reason}.`,
    );
  }

  /**
   * Fetches a key for `get`; waits only if the callback does.
   * @param what The file that is sealed with it, for the message.
   * @throws {DeferError} ERR_REDLINE_DEFER_SEAL: the key is unknown, or cannot be fetched
   */
  load(id: string, what: string): void | Promise<void> {
    if (this.#keys.has(id)) return;
    return whenGiven(
      () => this.#options.keyOf(id),
      (key) => this.#keep(id, key, what),
      (reason) =>
        `${what} is sealed with the key "${id}", and journal.seal.keyOf failed: ${reason}. Nothing in it was changed.`,
    );
  }

  #use(given: SealKey): void {
    const known = toKnownKey(given);
    this.#add(known.id, known.key);
    this.#current = known;
  }

  #keep(id: string, given: SealKeyBytes | undefined, what: string): void {
    if (given === undefined) {
      throw sealError(
        `${what} is sealed with the key "${id}", which journal.seal.keyOf does not know: make it return that key again, or move the file away. Nothing in it was changed.`,
      );
    }
    this.#add(id, toKeyObject(id, given));
  }

  #add(id: string, key: KeyObject): void {
    const before = this.#keys.get(id);
    if (before !== undefined && !before.equals(key)) {
      throw sealError(
        `journal.seal returned two different keys with the id "${id}": a new key needs a new id.`,
      );
    }
    this.#keys.set(id, key);
  }
}

/* Calls `use` with the result of the app's callback, in the same turn unless that is a promise. */
function whenGiven<Given>(
  callback: () => Given | Promise<Given>,
  use: (given: Given) => void,
  sentence: (reason: string) => string,
): void | Promise<void> {
  const fail = (cause: unknown): never => {
    throw sealError(sentence(messageOf(cause)), cause);
  };
  let given: Given | Promise<Given>;
  try {
    given = callback();
  } catch (cause) {
    return fail(cause);
  }
  if (!isPromise(given)) return use(given);
  return Promise.resolve<unknown>(given).then(use as (given: unknown) => void, fail);
}
