import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
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
const source = new URL('../src/', import.meta.url);
const myths = readdirSync(new URL('myths', source)).toSorted();

function filesOf(kind: 'rules' | 'myths', name: string): string[] {
  return readdirSync(new URL(`${kind}/${name}`, source)).toSorted();
}

function textOf(name: string, file: string): string {
  return readFileSync(new URL(`rules/${name}/${file}`, source), 'utf8');
}

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
      const url = plugin.rules[name]!.meta!.docs!.url!;
      assert.ok(url.endsWith(`/packages/eslint-plugin/src/rules/${name}/page.md`), url);
    });
  }

  test('has all that belongs to it in its folder, and a myth has no implementation', () => {
    const documents = ['evidence.json', 'page.md', 'proof.cjs'];
    for (const name of names) {
      const own = [...documents, 'rule.test.ts', 'rule.ts'];
      const found = filesOf('rules', name);
      const parts = found.filter((file) => !own.includes(file));
      assert.deepEqual(found, [...own, ...parts].toSorted(), name);
      // What else is there is a part of the rule.
      for (const part of parts) {
        const users = found.filter((file) => file.endsWith('.ts') && file !== part);
        const isUsed = users.some((file) => textOf(name, file).includes(`'./${part}'`));
        assert.ok(isUsed, `${name}/${part}`);
      }
    }
    for (const name of myths) assert.deepEqual(filesOf('myths', name), documents, name);
  });

  test('pays somewhere; advice that does not is a myth instead', () => {
    const evidence = readEvidence();
    assert.deepEqual(provenRules(), [...evidence.keys()]);
    const refuted = [...evidence.values()].filter((each) => statusOf(each) === 'refuted');
    assert.deepEqual(
      refuted.map(({ rule }) => rule),
      myths,
    );
    assert.deepEqual([...names, ...myths].toSorted(), [...evidence.keys()]);
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
