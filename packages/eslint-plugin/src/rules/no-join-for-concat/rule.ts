import type * as ESTree from 'estree';
import { isLiteral, methodCall } from '../../ast/node.ts';
import { provenKind } from '../../ast/proven-kind.ts';
import { defineRule, type Edit, type RuleModule } from '../../rule.ts';

export const noJoinForConcat: RuleModule = defineRule(
  {
    name: 'no-join-for-concat',
    advice: 'put the parts into a template: join makes an array first',
    fixes: true,
  },
  (report, context) => ({
    CallExpression(node) {
      const call = methodCall(node, 'join');
      const [separator] = call?.args ?? [];
      if (call?.object.type !== 'ArrayExpression' || !isLiteral(separator, 'string')) return;
      const { elements } = call.object;
      if (
        elements.length < 2 ||
        elements.some((each) => each === null || each.type === 'SpreadElement')
      )
        return;
      const parts = elements as ESTree.Expression[];
      // Constants run once or are folded, and elements on separate lines are meant to be readable: one long template gains nothing.
      const { start, end } = node.loc!;
      if (start.line !== end.line || parts.every(({ type }) => type === 'Literal')) return;
      const edit: Edit = (fixer) =>
        fixer.replaceText(
          node,
          `\`${parts.map(partText).join(escaped(String(separator.value)))}\``,
        );
      // join omits null and undefined; a template writes them out.
      const areSpelled = parts.every((part) =>
        ['string', 'number', 'boolean'].includes(provenKind(context, part) ?? ''),
      );
      report(node, areSpelled ? { fix: edit } : { suggest: edit });

      function partText(part: ESTree.Expression): string {
        if (isLiteral(part, 'string')) return escaped(String(part.value));
        return `\${${context.sourceCode.getText(part)}}`;
      }
    },
  }),
);

function escaped(text: string): string {
  return JSON.stringify(text)
    .slice(1, -1)
    .replaceAll('\\"', '"')
    .replace(/`|\$\{/g, '\\$&');
}
