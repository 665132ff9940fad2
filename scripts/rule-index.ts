// Writes the index of @redline/eslint-plugin's rules from their folders: `npm run rules`. `npm run readme` does so too, and
// with --check fails if the committed index differs from the folders.
import { globSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const packageFolder = join(import.meta.dirname, '../packages/eslint-plugin');

/** Relative to the root of the repository. */
export const ruleIndexFile = 'packages/eslint-plugin/src/rules.generated.ts';

export function ruleIndex(): string {
  const names = globSync('src/rules/*/rule.ts', { cwd: packageFolder })
    .map((file) => basename(dirname(file)))
    .toSorted();
  const imports = names.map(
    (name) => `import { ${constantOf(name)} } from './rules/${name}/rule.ts';\n`,
  );
  const entries = names.map((name) => `  ${keyOf(name)}: ${constantOf(name)},\n`);
  return `// Written by npm run rules: one line for each folder in src/rules.
/** @ts-ignore: an optional peer; without it, these types are any. */
import type { Rule } from 'eslint';
${imports.join('')}
/** All rules by name. */
export const rules: Record<string, Rule.RuleModule> = {
${entries.join('')}};
`;
}

/** Returns a rule's constant: `no-delete` is noDelete. */
function constantOf(name: string): string {
  return name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Quotes a key like the formatter. */
function keyOf(name: string): string {
  return name.includes('-') ? `'${name}'` : name;
}

if (import.meta.main) {
  writeFileSync(join(import.meta.dirname, '..', ruleIndexFile), ruleIndex());
}
