import { createSecretKey, KeyObject } from 'node:crypto';
import { optionError, sealError } from '../errors.ts';
import { positive, refuseUnknown } from '../validate.ts';

/** A key of 32 bytes, or a secret `KeyObject` of that size. */
export type SealKeyBytes = Uint8Array | KeyObject;

/** A key with its id. */
export interface SealKey {
  /** Stored in clear in each sealed file, 1 to 1,024 characters: a version, or the key as wrapped by a KMS. */
  readonly id: string;
  readonly key: SealKeyBytes;
}

export interface SealOptions {
  /**
   * Returns the key for new records. Called at the start and every `renewEveryMs`; another id starts a new file. If a later
   * call fails, the previous key stays in use, with a warning.
   */
  currentKey(): SealKey | Promise<SealKey>;
  /**
   * Returns the key of an id that `currentKey` has returned in any process of the app; undefined for an unknown id. A key is
   * needed until no file is sealed with it: `inspect` lists the ids in use.
   */
  keyOf(id: string): SealKeyBytes | undefined | Promise<SealKeyBytes | undefined>;
  /**
   * Interval between the calls of `currentKey`, in milliseconds.
   * @default 300_000
   */
  renewEveryMs?: number;
}

export interface KnownKey {
  readonly id: string;
  readonly key: KeyObject;
}

const keyBytes = 32;
const maxIdLength = 1_024;

/** @throws {DeferError} ERR_REDLINE_DEFER_OPTION */
export function resolveSeal(options: SealOptions | undefined): Required<SealOptions> | undefined {
  if (options === undefined) return undefined;
  refuseUnknown<keyof SealOptions>('journal.seal', options ?? null, {
    currentKey: true,
    keyOf: true,
    renewEveryMs: true,
  });
  for (const name of ['currentKey', 'keyOf'] as const) {
    if (typeof options[name] === 'function') continue;
    throw optionError(
      `The option journal.seal.${name} must be a function; got ${String(options[name])}.`,
    );
  }
  return {
    currentKey: () => options.currentKey(),
    keyOf: (id) => options.keyOf(id),
    renewEveryMs: positive('journal.seal.renewEveryMs', options.renewEveryMs ?? 300_000),
  };
}

/** @throws {DeferError} ERR_REDLINE_DEFER_SEAL: the key is invalid. The message does not contain its bytes. */
export function toKnownKey(given: SealKey | undefined): KnownKey {
  const { id, key } = given ?? ({} as Partial<SealKey>);
  if (typeof id !== 'string' || id === '' || id.length > maxIdLength) {
    throw sealError(
      `journal.seal.currentKey returned a key whose id is not a string of 1 to ${maxIdLength} characters.`,
    );
  }
  return { id, key: toKeyObject(id, key) };
}

/** @throws {DeferError} ERR_REDLINE_DEFER_SEAL */
export function toKeyObject(id: string, given: unknown): KeyObject {
  const isSecret = given instanceof KeyObject && given.type === 'secret';
  const size = isSecret
    ? given.symmetricKeySize
    : given instanceof Uint8Array
      ? given.length
      : undefined;
  if (size !== keyBytes) {
    throw sealError(
      `The key "${id}" must be ${keyBytes} bytes, as a Uint8Array or a secret KeyObject; got ${size === undefined ? typeof given : `${size} bytes`}.`,
    );
  }
  return isSecret ? given : createSecretKey(given as Uint8Array);
}
