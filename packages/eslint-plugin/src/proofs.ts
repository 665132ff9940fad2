import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = new URL('../proofs/', import.meta.url);

/** File of a proof of a rule or a myth: CommonJS with `before`, `after` and `inputs`, for `redline prove`. Undefined when there is none. */
export function proofFile(rule: string): string | undefined {
  if (!/^[a-z-]+$/.test(rule)) return undefined;
  const file = fileURLToPath(new URL(`${rule}.cjs`, folder));
  return existsSync(file) ? file : undefined;
}

/** Names of all proofs: those of all rules, and of the myths. */
export function provenRules(): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.cjs'))
    .map((name) => name.slice(0, -'.cjs'.length))
    .toSorted();
}
