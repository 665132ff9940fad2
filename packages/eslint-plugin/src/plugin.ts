import { createRequire } from 'node:module';
/** @ts-ignore: an optional peer; without it, these types are any. */
import type { ESLint, Linter } from 'eslint';
import { configFor, configOfAll } from './configs.ts';
import { rules } from './rules.generated.ts';

const { version } = createRequire(import.meta.url)('../package.json') as { version: string };

interface RedlinePlugin extends ESLint.Plugin {
  meta: { name: string; version: string; namespace: string };
  rules: typeof rules;
  configs: {
    /** The rules that pay on the Node that runs ESLint. */
    recommended: Linter.Config;
    /** All rules, including those that only pay on other versions. */
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
 * Returns the rules that pay on the Node version of the code, if a different version runs ESLint.
 * @param node Major version, e.g. 10.
 * @example
 * export default [recommendedFor(10)];
 */
export function recommendedFor(node: number): Linter.Config {
  return configFor(plugin, node);
}
