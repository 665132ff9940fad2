import { globalCall, isRepeatable, methodCall } from '../../ast/node.ts';
import { defineRule, type RuleModule } from '../../rule.ts';

export const noObjectEntriesLoop: RuleModule = defineRule(
  {
    name: 'no-object-entries-loop',
    advice: 'walk the keys and look the values up: Object.entries makes an array for each pair',
  },
  (report, context) => ({
    ForOfStatement(node) {
      const [object] = globalCall(context, node.right, 'Object', 'entries') ?? [];
      if (!object) return;
      const { left, body } = node;
      const target = left.type === 'VariableDeclaration' ? left.declarations[0]!.id : undefined;
      const [key, value] = target?.type === 'ArrayPattern' ? target.elements : [];
      const rewritable =
        left.type === 'VariableDeclaration' &&
        key?.type === 'Identifier' &&
        value?.type === 'Identifier' &&
        body.type === 'BlockStatement' &&
        isRepeatable(object);
      if (!rewritable) return report(node);
      report(node, {
        suggest: (fixer) => {
          const text = context.sourceCode.getText(object);
          return [
            fixer.replaceText(target!, key.name),
            fixer.replaceText(node.right, `Object.keys(${text})`),
            fixer.insertTextAfterRange(
              [body.range![0], body.range![0] + 1],
              ` ${left.kind} ${value.name} = ${text}[${key.name}];`,
            ),
          ];
        },
      });
    },
    CallExpression(node) {
      const call = methodCall(node, 'forEach');
      if (call && globalCall(context, call.object, 'Object', 'entries')) report(node);
    },
  }),
);
