import { describe, test } from 'node:test';
import { RuleTester } from 'eslint';
import { rules } from '../src/rules.generated.ts';

RuleTester.describe = describe;
RuleTester.it = test;
RuleTester.itOnly = test.only;

export interface Cases {
  valid: string[];
  /** What is found once each: `fixed` in place, or as the rule would have it if a person agrees, or just said. */
  invalid: { code: string; fixed?: string; suggested?: string }[];
}

/** Old code is what these rules are for: `sourceType: 'script'` unless it imports. */
export function testRule(name: string, { valid, invalid }: Cases): void {
  const tester = new RuleTester({ languageOptions: { sourceType: 'script', ecmaVersion: 2025 } });
  tester.run(name, rules[name]!, {
    valid: valid.map((code) => ({ code, ...sourceTypeOf(code) })),
    invalid: invalid.map(({ code, fixed, suggested }) => ({
      code,
      ...sourceTypeOf(code),
      output: fixed ?? null,
      errors: [
        {
          messageId: 'found',
          ...(suggested !== undefined && {
            suggestions: [{ messageId: 'rewrite', output: suggested }],
          }),
        },
      ],
    })),
  });
}

function sourceTypeOf(code: string): { languageOptions?: { sourceType: 'module' } } {
  return code.startsWith('import ') ? { languageOptions: { sourceType: 'module' } } : {};
}
