import { fileURLToPath } from 'node:url';
import { adviceFolders } from './advice-folders.ts';

/**
 * Returns the file with the proof of a rule or a myth: CommonJS with `before`, `after` and `inputs`, for `redline prove`. Undefined
 * for an unknown name.
 */
export function proofFile(rule: string): string | undefined {
  const folder = adviceFolders().get(rule);
  return folder && fileURLToPath(new URL('proof.cjs', folder));
}

/** Returns the names of all proofs: those of all rules, and of the myths. */
export function provenRules(): string[] {
  return [...adviceFolders().keys()];
}
