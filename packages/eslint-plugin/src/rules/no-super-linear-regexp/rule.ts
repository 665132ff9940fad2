import type * as ESTree from 'estree';
import { isGlobal, isLiteral, methodCall, parentOf } from '../../ast/node.ts';
import { constantValue, usesOf, variableOf } from '../../ast/variable.ts';
import { attackText, dangerOf } from '../../regexp/danger-of.ts';
import { defineRule, type RuleModule } from '../../rule.ts';
import { isGiven, isLimited } from './given-text.ts';

export const noSuperLinearRegexp: RuleModule = defineRule(
  {
    name: 'no-super-linear-regexp',
    advice:
      'match text from outside with an expression that takes linear time: here a short text can hold the thread',
    message:
      '{{regexp}} takes {{growth}} time on {{attack}}. Limit the length of the text before it, rewrite the expression so that a text has one way to match, or use RE2.',
  },
  (report, context) => {
    const look = (node: ESTree.Node, source: string, flags: string): void => {
      const texts = textsMatched(context, node);
      if (!texts.some((text) => text === 'validated' || isGiven(context, text))) return;
      const danger = dangerOf(source, flags);
      if (danger === undefined || danger.bySearching) return;
      const isSafe = texts.every((text) => text !== 'validated' && isLimited(context, text));
      // A limit of some hundred characters ends a polynomial, and no exponential.
      if (danger.growth === 'polynomial' && isSafe) return;
      const { growth } = danger;
      report(node, undefined, {
        regexp: `/${source}/${flags}`,
        growth,
        attack: attackText(danger),
      });
    };
    return {
      Literal(node) {
        if ('regex' in node) look(node, node.regex.pattern, node.regex.flags);
      },
      NewExpression(node) {
        const [pattern, flags] = node.arguments;
        if (!isGlobal(context, node.callee, 'RegExp') || !isLiteral(pattern, 'string')) return;
        if (flags !== undefined && !isLiteral(flags, 'string')) return;
        look(node, String(pattern.value), String(flags?.value ?? ''));
      },
    };
  },
);

type Context = Parameters<typeof isGiven>[0];

/** Methods of libraries that check a value of a request: zod, yup, Joi, valibot, class-validator, express-validator. */
const validators = /^(?:regex|pattern|matches|Matches)$/;

/** Returns what an expression is matched against, at all places it is used; `validated` for what a schema is given. */
function textsMatched(context: Context, node: ESTree.Node): (ESTree.Node | 'validated')[] {
  const parent = parentOf(node);
  if (parent?.type === 'VariableDeclarator' && parent.init === node) {
    const variable = variableOf(context, parent.id);
    if (variable === undefined || constantValue(variable) !== node) return [];
    return usesOf(variable).flatMap((use) => textMatched(use) ?? []);
  }
  return [textMatched(node) ?? []].flat();
}

function textMatched(node: ESTree.Node): ESTree.Node | 'validated' | undefined {
  const parent = parentOf(node);
  if (parent?.type === 'MemberExpression' && parent.object === node) {
    const call = methodCall(parentOf(parent), 'test', 'exec');
    return call?.args[0];
  }
  if (parent?.type !== 'CallExpression' || parent.arguments[0] !== node) return undefined;
  const call = methodCall(parent, 'match', 'matchAll', 'search', 'replace', 'replaceAll', 'split');
  if (call !== undefined) return call.object;
  const { callee } = parent;
  const name = callee.type === 'MemberExpression' ? callee.property : callee;
  return name.type === 'Identifier' && validators.test(name.name) ? 'validated' : undefined;
}
