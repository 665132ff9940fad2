import { isLiteral, isPath, methodCall } from '../../ast/node.ts';
import { provenKind } from '../../ast/proven-kind.ts';
import { defineRule, type Edit, type RuleModule } from '../../rule.ts';

export const noSplitForFirst: RuleModule = defineRule(
  {
    name: 'no-split-for-first',
    advice: 'cut the first part with indexOf and slice: split makes an array and every part',
    fixes: true,
  },
  (report, context) => ({
    MemberExpression(node) {
      if (!node.computed || !isLiteral(node.property, 'number') || node.property.value !== 0)
        return;
      const call = methodCall(node.object, 'split');
      const [separator, ...others] = call?.args ?? [];
      if (!call || !isLiteral(separator, 'string') || separator.value === '' || others.length > 0)
        return;
      if (!isPath(call.object)) return report(node);
      const edit: Edit = (fixer) => {
        const text = context.sourceCode.getText(call.object);
        const at = `${text}.indexOf(${separator.raw})`;
        return fixer.replaceText(node, `(${at} === -1 ? ${text} : ${text}.slice(0, ${at}))`);
      };
      // A value other than a string may have its own split; a property would be read three times, and may be a getter.
      const isString =
        call.object.type === 'Identifier' && provenKind(context, call.object) === 'string';
      report(node, isString ? { fix: edit } : { suggest: edit });
    },
  }),
);
