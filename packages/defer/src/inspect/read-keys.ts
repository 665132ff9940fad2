import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { KeyRing } from '../seal/key-ring.ts';
import { resolveSeal, type SealOptions } from '../seal/seal-options.ts';
import { messageOf } from '../thrown.ts';
import { optionError } from '../errors.ts';

/** Loads the keys of a module whose default export is `journal.seal`. @throws {DeferError} ERR_REDLINE_DEFER_OPTION */
export async function readKeys(file: string): Promise<KeyRing> {
  let exported: { default?: SealOptions };
  try {
    exported = (await import(pathToFileURL(resolve(file)).href)) as { default?: SealOptions };
  } catch (cause) {
    throw optionError(`--seal: ${file} cannot be loaded: ${messageOf(cause)}.`, cause);
  }
  const options = resolveSeal(exported.default);
  if (options !== undefined) return new KeyRing(options);
  throw optionError(
    `--seal: ${file} has no default export; it must be the option journal.seal of the app.`,
  );
}
