import { createRequire } from 'node:module';
/** @ts-ignore: an optional peer; without it, these types are any. */
import type { ESLint, Linter } from 'eslint';
import { paysOn, readEvidence } from './evidence.ts';
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
plugin.configs.recommended = recommendedFor(Number(process.versions.node.split('.', 1)[0]));
// For reviewing code, not for CI.
plugin.configs.all = configOf('all', Object.keys(rules));

/**
 * Returns the rules that pay on the Node version of the code, if a different version runs ESLint.
 * @param node Major version, e.g. 10.
 * @example
 * export default [recommendedFor(10)];
 */
export function recommendedFor(node: number): Linter.Config {
  const names = [...readEvidence()]
    .filter(([, evidence]) => paysOn(evidence, node))
    .map(([name]) => name);
  return configOf(`node-${node}`, names);
}

/* A flat config with these rules as warnings. */
function configOf(name: string, names: readonly string[]): Linter.Config {
  return {
    name: `@redline/${name}`,
    plugins: { '@redline': plugin },
    rules: Object.fromEntries(names.map((rule) => [`@redline/${rule}`, 'warn'])),
  };
}
