import { readdirSync } from 'node:fs';

// Shipped with the package: `dist/` only contains code.
const source = new URL('../src/', import.meta.url);

/** Returns the folders of all rules and myths by name, each with `proof.cjs`, `evidence.json` and `page.md`. */
export function adviceFolders(): Map<string, URL> {
  const all = ['rules', 'myths'].flatMap((kind) =>
    readdirSync(new URL(kind, source))
      .filter((name) => /^[a-z-]+$/.test(name))
      .map((name): [string, URL] => [name, new URL(`${kind}/${name}/`, source)]),
  );
  return new Map(all.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
