import type { ESLint, Linter } from 'eslint';
import { readEvidence } from './evidence.ts';
import { paysOn } from './status.ts';

/** Returns a flat config with the rules that pay on a major version of Node, as warnings. */
export function configFor(plugin: ESLint.Plugin, major: number): Linter.Config {
  const names = [...readEvidence()]
    .filter(([, evidence]) => paysOn(evidence, major))
    .map(([name]) => name);
  return configOf(plugin, `node-${major}`, names);
}

/** Returns a config with every rule, including those that only pay on other versions: for reviewing code, not for CI. */
export function configOfAll(plugin: ESLint.Plugin): Linter.Config {
  return configOf(plugin, 'all', Object.keys(plugin.rules!));
}

function configOf(plugin: ESLint.Plugin, name: string, rules: readonly string[]): Linter.Config {
  return {
    name: `@redline/${name}`,
    plugins: { '@redline': plugin },
    rules: Object.fromEntries(rules.map((rule) => [`@redline/${rule}`, 'warn'])),
  };
}
