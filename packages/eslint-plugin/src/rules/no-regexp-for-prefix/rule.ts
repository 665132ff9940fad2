import { methodCall } from '../../ast/node.ts';
import { provenKind } from '../../ast/proven-kind.ts';
import { defineRule, type Edit, type RuleModule } from '../../rule.ts';

export const noRegexpForPrefix: RuleModule = defineRule(
  {
    name: 'no-regexp-for-prefix',
    advice: 'use startsWith or endsWith: a fixed text does not need a regular expression',
    fixes: true,
  },
  (report, context) => ({
    CallExpression(node) {
      const call = methodCall(node, 'test');
      if (call?.object.type !== 'Literal' || !('regex' in call.object) || call.args.length !== 1)
        return;
      const { pattern, flags } = call.object.regex;
      const fixed = flags === '' ? fixedText(pattern) : undefined;
      if (!fixed) return;
      const [subject] = call.args;
      const edit: Edit = (fixer) => {
        const text = context.sourceCode.getText(subject);
        const isSimple = /^(?:Identifier|MemberExpression|CallExpression)$/.test(subject!.type);
        const quoted = `'${JSON.stringify(fixed.text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
        return fixer.replaceText(
          node,
          `${isSimple ? text : `(${text})`}.${fixed.method}(${quoted})`,
        );
      };
      // test converts any argument to a string.
      report(node, provenKind(context, subject) === 'string' ? { fix: edit } : { suggest: edit });
    },
  }),
);

/** Returns the text of `^text` or `text$`, if the pattern contains nothing but text. */
function fixedText(pattern: string): { text: string; method: string } | undefined {
  const prefix = /^\^((?:[^\\^$.*+?()[\]{}|]|\\[^\w\s])+)$/.exec(pattern)?.[1];
  if (prefix !== undefined) return { text: unescaped(prefix), method: 'startsWith' };
  const suffix = /^((?:[^\\^$.*+?()[\]{}|]|\\[^\w\s])+)\$$/.exec(pattern)?.[1];
  return suffix === undefined ? undefined : { text: unescaped(suffix), method: 'endsWith' };
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, '$1');
}
