import type * as ESTree from 'estree';
import {
  isGlobal,
  isLiteral,
  methodCall,
  parentOf,
  type Context,
  enclosingFunction,
  isFunction,
  type Node,
} from '../../ast/node.ts';
import { constantValue, usesOf, variableOf } from '../../ast/variable.ts';
import { attackText, dangerOf } from '../../regexp/danger-of.ts';
import { defineRule, type RuleModule } from '../../rule.ts';

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

/** Names of the object that has a request. */
const requests = /^(?:req|request|ctx|context|c|event)$/;
/** Parts of a request whose text the client chooses. */
const parts =
  /^(?:body|query|querystring|params|param|headers|header|get|url|originalUrl|path|cookies|search|hostname|req|request)$/;
const eachOf = /^(?:map|filter|some|every|find|findIndex|findLast|flatMap|forEach|reduce)$/;
/** Limit for variables that are made from each other. */
const maxSteps = 12;

/** True for text from outside of a function: of a request, or a parameter, which is whatever the caller has. */
export function isGiven(context: Context, node: ESTree.Node, steps: number = maxSteps): boolean {
  if (steps === 0) return false;
  const is = (each: ESTree.Node): boolean => isGiven(context, each, steps - 1);
  switch (node.type) {
    case 'Identifier':
      return isGivenVariable(context, node, steps);
    case 'MemberExpression':
      return isOfRequest(node) || is(node.object);
    case 'CallExpression':
      // String(text), text.trim(), decodeURIComponent(text), request.get('name')
      return node.callee.type === 'MemberExpression'
        ? is(node.callee) || node.arguments.some(is)
        : node.arguments.some(is);
    case 'TemplateLiteral':
      return node.expressions.some(is);
    case 'BinaryExpression':
      return node.operator === '+' && [node.left as ESTree.Node, node.right].some(is);
    case 'LogicalExpression':
      return is(node.left) || is(node.right);
    case 'ConditionalExpression':
      return is(node.consequent) || is(node.alternate);
    case 'AssignmentExpression':
      return is(node.right);
    case 'AwaitExpression':
    case 'SpreadElement':
      return is(node.argument);
    case 'ChainExpression':
      return is(node.expression);
    default:
      return false;
  }
}

/** True for `req.query.name`, `ctx.request.body`, `request.headers['x-name']`. */
function isOfRequest(node: ESTree.MemberExpression): boolean {
  let at: ESTree.Node = node;
  let isPart = false;
  while (at.type === 'MemberExpression') {
    if (!at.computed && at.property.type === 'Identifier') isPart ||= parts.test(at.property.name);
    at = at.object;
  }
  return isPart && at.type === 'Identifier' && requests.test(at.name);
}

function isGivenVariable(context: Context, node: ESTree.Identifier, steps: number): boolean {
  const variable = variableOf(context, node);
  const [definition] = variable?.defs ?? [];
  if (variable === undefined || definition === undefined) return false;
  if (definition.type === 'Parameter') {
    const list = listOf(definition.node as Node);
    return list === undefined || isGiven(context, list, steps - 1);
  }
  return variable.references.some(
    ({ writeExpr }) => writeExpr != null && isGiven(context, writeExpr, steps - 1),
  );
}

/** Returns `list` of `list.map((item) => …)`, whose elements the parameters are. */
function listOf(fn: Node): ESTree.Expression | undefined {
  const call = isFunction(fn) ? parentOf(fn) : undefined;
  if (call?.type !== 'CallExpression' || call.arguments[0] !== fn) return undefined;
  const { callee } = call;
  if (callee.type !== 'MemberExpression' || callee.object.type === 'Super') return undefined;
  const name = callee.property.type === 'Identifier' ? callee.property.name : '';
  return eachOf.test(name) ? callee.object : undefined;
}

/** True if the length of a text is limited: by `slice(0, 100)`, or by a comparison of `text.length` around it. */
export function isLimited(context: Context, text: ESTree.Node): boolean {
  const call = methodCall(text, 'slice', 'substring', 'substr', 'trim', 'toLowerCase');
  if (call !== undefined) {
    return isLiteral(call.args[1], 'number') || isLimited(context, call.object);
  }
  const { sourceCode } = context;
  const fn = enclosingFunction(text) ?? sourceCode.ast;
  const name = sourceCode.getText(text);
  const own = sourceCode.getText(fn as ESTree.Node);
  const measured = own.split(`${name}.length`).slice(1);
  return measured.some((after) => /^\s*(?:[<>]=?|===)/.test(after));
}
