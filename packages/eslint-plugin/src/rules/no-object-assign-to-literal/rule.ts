import type * as ESTree from 'estree';
import { globalCall, parentOf } from '../../ast/node.ts';
import { defineRule, type RuleModule } from '../../rule.ts';

export const noObjectAssignToLiteral: RuleModule = defineRule(
  {
    name: 'no-object-assign-to-literal',
    advice: 'spread into a literal instead of assigning to an empty one',
  },
  (report, context) => ({
    CallExpression(node) {
      const [target, ...sources] = globalCall(context, node, 'Object', 'assign') ?? [];
      if (target?.type !== 'ObjectExpression' || target.properties.length > 0) return;
      if (sources.length === 0 || sources.some(({ type }) => type === 'SpreadElement')) return;
      // Never in place: a source's own `__proto__` key, as JSON.parse creates it, sets the prototype with assign and stays a key
      // with a spread.
      report(node, {
        suggest: (fixer) => {
          const spread = sources.map((source) => spreadOf(source)).join(', ');
          return fixer.replaceText(
            node,
            mayStartWithBrace(node) ? `{ ${spread} }` : `({ ${spread} })`,
          );
        },
      });

      function spreadOf(source: ESTree.Node): string {
        const text = context.sourceCode.getText(source);
        return source.type === 'SequenceExpression' || source.type === 'ArrowFunctionExpression'
          ? `...(${text})`
          : `...${text}`;
      }
    },
  }),
);

/** Returns false if a brace would begin a block, or if the expression continues after it. */
function mayStartWithBrace(node: ESTree.Node): boolean {
  const parent = parentOf(node);
  switch (parent?.type) {
    case 'VariableDeclarator':
    case 'ReturnStatement':
    case 'Property':
    case 'ArrayExpression':
    case 'AssignmentExpression':
      return true;
    case 'CallExpression':
    case 'NewExpression':
      return parent.callee !== node;
    default:
      return false;
  }
}
