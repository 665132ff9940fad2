import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { Linter } from 'eslint';
import plugin, {
  paysOn,
  proofFile,
  provenRules,
  readEvidence,
  recommendedFor,
  statusOf,
} from '../src/index.ts';

const names = Object.keys(plugin.rules);

describe('every rule', () => {
  for (const name of names) {
    test(`${name} has a proof, evidence of that very code, and a page`, () => {
      assert.ok(proofFile(name));
      const evidence = readEvidence().get(name);
      assert.ok(evidence, 'evidence');
      assert.ok(evidence.measurements.length > 0);
      const proof = readFileSync(proofFile(name)!, 'utf8');
      for (const side of [evidence.before, evidence.after]) {
        assert.ok(proof.includes(side.split('\n').at(-2)!), 'the evidence timed other code');
      }
      const page = new URL(`../docs/rules/${name}.md`, import.meta.url);
      assert.ok(existsSync(page), 'page');
      assert.match(plugin.rules[name]!.meta!.docs!.url!, new RegExp(`/docs/rules/${name}\\.md$`));
    });
  }

  test('pays somewhere; advice that does not has a proof, evidence and a place among the myths instead', () => {
    const evidence = readEvidence();
    assert.deepEqual(provenRules(), [...evidence.keys()]);
    const refuted = [...evidence.values()].filter((each) => statusOf(each) === 'refuted');
    const myths = readFileSync(new URL('../docs/myths.md', import.meta.url), 'utf8');
    for (const { rule } of refuted) assert.ok(myths.includes(`\`${rule}\` · `), rule);
    assert.deepEqual(
      [...names, ...refuted.map(({ rule }) => rule)].toSorted(),
      [...evidence.keys()].toSorted(),
    );
  });

  test('that changes results never fixes in place', () => {
    const changing = [...readEvidence().values()].filter(({ changesResult }) => changesResult);
    for (const { rule } of changing) {
      assert.equal(plugin.rules[rule]?.meta?.fixable, undefined, rule);
    }
  });
});

describe('the configs', () => {
  test('recommended holds the rules that pay on the Node in use', () => {
    const major = Number(process.versions.node.split('.')[0]);
    const paying = [...readEvidence().values()].filter((each) => paysOn(each, major));
    assert.deepEqual(
      Object.keys(plugin.configs.recommended.rules!),
      paying.map(({ rule }) => `@redline/${rule}`),
    );
  });

  test('recommendedFor follows another Node', () => {
    assert.notDeepEqual(recommendedFor(10).rules, recommendedFor(26).rules);
  });

  test('all holds every rule', () => {
    assert.equal(Object.keys(plugin.configs.all.rules!).length, names.length);
  });

  test('work as flat configs', () => {
    const code = 'var a = []; for (var i in a) use(a[i]);';
    const [message] = new Linter().verify(code, [plugin.configs.recommended]);
    assert.equal(message?.ruleId, '@redline/no-for-in-array');
    assert.equal(message.severity, 1);
  });
});
