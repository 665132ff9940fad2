import type * as ESTree from 'estree';
import { type Context, isGlobal } from './node.ts';

/** Node types of expressions, and of statements that only name values. */
const plain =
  /^(?:Identifier|Literal|TemplateLiteral|TemplateElement|MemberExpression|ChainExpression|BinaryExpression|LogicalExpression|ConditionalExpression|ObjectExpression|Property|ArrayExpression|SpreadElement|VariableDeclaration|VariableDeclarator)$/;

const functions =
  /^(?:String|Number|Boolean|parseInt|parseFloat|isNaN|isFinite|encodeURIComponent|decodeURIComponent)$/;

/** Static methods of globals. Excludes clocks and random numbers: the order of their calls affects the result. */
const statics: Record<string, RegExp> = {
  Math: /^(?!random$)/,
  Number: /^is|^parse/,
  Object: /^(?:keys|values|entries)$/,
  Array: /^(?:isArray|of)$/,
  String: /^from/,
  JSON: /^(?:parse|stringify)$/,
  Date: /^(?:UTC|parse)$/,
};

/** Methods of strings, arrays, numbers and dates that change nothing and call nothing. */
const methods = new RegExp(
  `^(?:${[
    'at|charAt|charCodeAt|codePointAt|concat|endsWith|includes|indexOf|join|lastIndexOf|localeCompare|normalize',
    'padEnd|padStart|repeat|slice|split|startsWith|substring|substr|toFixed|toISOString|toLowerCase|toPrecision',
    'toString|toUpperCase|trim|trimEnd|trimStart|valueOf|getTime|get(?:UTC)?(?:FullYear|Month|Date|Day|Hours|Minutes|Seconds)',
  ].join('|')})$`,
);

/**
 * True if an expression, or the declaration of a variable, only computes a value, so that the time of its evaluation does not
 * matter. Assumes that methods are the built-in ones of that name, and that no property is a getter with side effects.
 */
export function isPure(context: Context, node: ESTree.Node): boolean {
  if (!isPureItself(context, node)) return false;
  return Object.entries(node).every(
    ([key, value]) =>
      key === 'parent' ||
      [value]
        .flat()
        .every(
          (child: ESTree.Node | null | undefined) =>
            typeof child?.type !== 'string' || isPure(context, child),
        ),
  );
}

function isPureItself(context: Context, node: ESTree.Node): boolean {
  if (node.type === 'UnaryExpression') return node.operator !== 'delete';
  if (node.type === 'Property') return node.kind === 'init' && !node.method;
  if (node.type === 'CallExpression') return isPureCall(context, node);
  if (node.type === 'NewExpression')
    return isGlobal(context, node.callee, 'Date') && node.arguments.length > 0;
  return plain.test(node.type);
}

function isPureCall(
  context: Context,
  { callee, arguments: args }: ESTree.SimpleCallExpression,
): boolean {
  if (callee.type === 'Identifier')
    return functions.test(callee.name) && isGlobal(context, callee, callee.name);
  if (callee.type !== 'MemberExpression' || callee.computed) return false;
  const { object, property } = callee;
  if (property.type !== 'Identifier') return false;
  if (object.type === 'Identifier' && isGlobal(context, object, object.name)) {
    // The target of the assignment is a new object.
    if (object.name === 'Object' && property.name === 'assign')
      return args[0]?.type === 'ObjectExpression';
    const known = Object.hasOwn(statics, object.name) ? statics[object.name] : undefined;
    // Other arguments of JSON may be functions that it calls.
    const isCalling =
      object.name === 'JSON' &&
      args.some(({ type }, index) => type === 'SpreadElement' || (index > 0 && type !== 'Literal'));
    if (known) return known.test(property.name) && !isCalling;
  }
  // With one of these flags the expression keeps its position.
  if (object.type === 'Literal' && 'regex' in object)
    return property.name === 'test' && !/[gy]/.test(object.regex.flags);
  return methods.test(property.name);
}
