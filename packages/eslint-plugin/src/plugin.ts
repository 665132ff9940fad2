import { createRequire } from 'node:module';
import type { ESLint, Linter } from 'eslint';
import { configFor, configOfAll } from './configs.ts';
import { rules } from './rules.generated.ts';

const { version } = createRequire(import.meta.url)('../package.json') as { version: string };

interface RedlinePlugin extends ESLint.Plugin {
  meta: { name: string; version: string; namespace: string };
  rules: typeof rules;
  configs: {
    /** What pays on the Node that runs ESLint. */
    recommended: Linter.Config;
    /** Every rule, also those that pay on other versions only. */
    all: Linter.Config;
  };
}

export const plugin: RedlinePlugin = {
  meta: { name: '@redline/eslint-plugin', version, namespace: '@redline' },
  rules,
  configs: {} as RedlinePlugin['configs'],
};
plugin.configs.recommended = configFor(plugin, Number(process.versions.node.split('.', 1)[0]));
plugin.configs.all = configOfAll(plugin);

/**
 * What pays on another Node than the one that runs ESLint: the code's own.
 * @param node Major version, e.g. 10.
 * @example
 * export default [recommendedFor(10)];
 */
export function recommendedFor(node: number): Linter.Config {
  return configFor(plugin, node);
}
