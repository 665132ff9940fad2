import type * as ESTree from 'estree';
import { kindOf } from './kind.ts';
import { type Context, isFunction, parentOf } from './node.ts';
import { usesOf, variableOf } from './variable.ts';

/** Packages whose values have the methods of arrays but are not arrays. */
const collections =
  /^(?:bluebird|cheerio|highland|immutable|ix|jquery|lazy\.js|rxjs|(?:node:)?stream(?:\/promises)?|wu)(?:\/|$)/;
/** Packages that take the array as first argument, or wrap it. */
const wrappers = /^(?:lodash(?:-es)?|underscore)(?:\/|$)/;
/** Global names of these wrappers. */
const globalWrappers = /^(?:_|\$|jQuery)$/;
/** Members of other collections that return an array, or any value. */
const toPlainValues = /^(?:toArray|get|value|toJS|toJSON|split)$/;
const iterators = /^(?:values|keys|entries)$/;
const lists = /^(?:querySelectorAll|getElementsBy\w+|getAll)$/;
/** Members of maps, sets and the like that arrays do not have. */
const ofMaps = /^(?:get|set|has|add|delete|clear|size|append|getAll)$/;
const types =
  /^(?:(?:Readonly|Weak)?(?:Map|Set)|URLSearchParams|Headers|FormData|NodeList(?:Of)?|Iterator\w*|Readable|Observable|Query)$/;

/** True if the file shows that a value with a method of arrays is not an array. */
export function isNotArray(context: Context, node: ESTree.Node): boolean {
  for (let at: ESTree.Node = node; ;) {
    if (isOther(context, at)) return true;
    if (at.type !== 'CallExpression' || at.callee.type !== 'MemberExpression') return false;
    const { object, property } = at.callee;
    if (property.type !== 'Identifier' || toPlainValues.test(property.name)) return false;
    at = object;
  }
}

/** True for `lib.map(list, fn)`: the function is the second argument, where arrays take a `this`. */
export function takesListFirst(context: Context, node: ESTree.Node | null | undefined): boolean {
  if (node?.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return false;
  const [first, second] = node.arguments;
  if (isFunction(second) && !isFunction(first)) return true;
  return wrappers.test(sourceOf(context, node.callee.object) ?? '');
}

/** True if the result is used in a way arrays do not support: `.value()`, `.take(3)`, `for await`. */
export function isUsedAsOther(node: ESTree.Node): boolean {
  const parent = parentOf(node);
  if (parent?.type === 'MemberExpression' && parent.object === node && !parent.computed) {
    return parent.property.type === 'Identifier' && !(parent.property.name in Array.prototype);
  }
  return parent?.type === 'ForOfStatement' && parent.right === node && parent.await;
}

function isOther(context: Context, node: ESTree.Node): boolean {
  if (/^(?:map|set)$/.test(kindOf(context, node) ?? '')) return true;
  if (collections.test(sourceOf(context, node) ?? '')) return true;
  if (node.type === 'NewExpression')
    return node.callee.type === 'Identifier' && !node.callee.name.endsWith('Array');
  if (node.type === 'CallExpression') return makesOther(context, node);
  const variable = variableOf(context, node);
  const [definition, ...others] = variable?.defs ?? [];
  if (!variable || !definition || others.length > 0) return false;
  const { name } = definition;
  if (types.test(typeNameOf(name as ESTree.Node) ?? '')) return true;
  const isMap = usesOf(variable).some((use) => {
    const parent = parentOf(use);
    if (parent?.type !== 'MemberExpression' || parent.object !== use || parent.computed)
      return false;
    return parent.property.type === 'Identifier' && ofMaps.test(parent.property.name);
  });
  if (isMap) return true;
  if (definition.type !== 'Variable' || definition.node.id !== name) return false;
  const { init } = definition.node;
  return init != null && isNotArray(context, init);
}

function makesOther(
  context: Context,
  { callee, arguments: args }: ESTree.SimpleCallExpression,
): boolean {
  if (callee.type === 'Identifier') {
    const source = sourceOf(context, callee);
    return source === undefined
      ? globalWrappers.test(callee.name)
      : wrappers.test(source) || collections.test(source);
  }
  if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return false;
  const { name } = callee.property;
  if (iterators.test(name)) return args.length === 0;
  if (lists.test(name)) return true;
  return name === 'chain' && isWrapper(context, callee.object);
}

function isWrapper(context: Context, node: ESTree.Node): boolean {
  const source = sourceOf(context, node);
  if (source !== undefined) return wrappers.test(source);
  return node.type === 'Identifier' && globalWrappers.test(node.name);
}

/** Returns the module from which a name, or the value it is a part of, was imported or required. */
function sourceOf(context: Context, node: ESTree.Node): string | undefined {
  const [definition, ...others] = variableOf(context, node)?.defs ?? [];
  if (!definition || others.length > 0) return undefined;
  if (definition.type === 'ImportBinding') {
    const source: unknown = (definition.parent as ESTree.ImportDeclaration).source.value;
    return typeof source === 'string' ? source : undefined;
  }
  let value = definition.type === 'Variable' ? definition.node.init : undefined;
  for (; value?.type === 'MemberExpression' || value?.type === 'CallExpression';) {
    if (value.type === 'MemberExpression') {
      value = value.object as ESTree.Expression;
      continue;
    }
    const [source] = value.arguments;
    if (value.callee.type !== 'Identifier') value = value.callee as ESTree.Expression;
    else if (value.callee.name !== 'require' || source?.type !== 'Literal') return undefined;
    else return typeof source.value === 'string' ? source.value : undefined;
  }
  return undefined;
}

/** Returns the type annotation of a name, from TypeScript's parser. */
function typeNameOf(node: ESTree.Node): string | undefined {
  const { typeAnnotation } = node as {
    typeAnnotation?: { typeAnnotation?: { typeName?: { name?: string } } };
  };
  return typeAnnotation?.typeAnnotation?.typeName?.name;
}
