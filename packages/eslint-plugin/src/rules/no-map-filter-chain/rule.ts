import {
  methodCall,
  parentOf,
  type Context,
  type FunctionNode,
  isFunction,
} from '../../ast/node.ts';
import { isPure } from '../../ast/pure.ts';
import { isKnownArray } from '../../ast/known-array.ts';
import { isNotArray, isUsedAsOther, takesListFirst } from '../../ast/not-array.ts';
import { defineRule, type RuleModule, type Edit } from '../../rule.ts';
import type { AST } from 'eslint';
import type * as ESTree from 'estree';
import { freeNames } from '../../ast/variable.ts';

export const noMapFilterChain: RuleModule = defineRule(
  {
    name: 'no-map-filter-chain',
    advice:
      'do the work of map and filter in one loop: each makes an array that only the next one reads',
  },
  (report, context) => ({
    CallExpression(node) {
      const outer = methodCall(node, 'map', 'filter');
      const inner = outer && methodCall(outer.object, 'map', 'filter');
      if (!inner || outer.args.length === 0 || inner.args.length === 0) return;
      if (isNotArray(context, inner.object) || takesListFirst(context, outer.object)) return;
      // The last call of a chain reports for all of it.
      const member = parentOf(node);
      const next = member && parentOf(member);
      if (isUsedAsOther(node)) return;
      if (!methodCall(next, 'map', 'filter') || member !== (next as { callee?: unknown }).callee) {
        const edit = onePassEdit(context, node);
        report(node, edit && { suggest: edit });
      }
    },
  }),
);

/** Max length of a condition on one line; longer ones get a line per callback. */
const maxLineLength = 80;

/**
 * Rewrites a chain whose callbacks only compute into one pass: each element goes through all of them before the next one does.
 * Undefined if a callback may do more than that, or uses more than the element, or if a comment would be lost.
 */
export function onePassEdit(context: Context, node: ESTree.CallExpression): Edit | undefined {
  const stages = stagesOf(context, node);
  const { sourceCode } = context;
  if (stages.length < 2 || !canJoin(stages)) return undefined;
  const first = methodCall(callOf(stages[0]!), 'map', 'filter')!;
  const isMixed = stages.some(({ name }) => name !== stages[0]!.name);
  // Other objects with these methods may call back later, or more than once.
  if (!isKnownArray(context, first.object)) return undefined;
  const text = sourceCode.getText(node);
  // Lines are re-indented, except those of a string or template.
  const hasLongText = /`[^`]*\n|\\\n/.test(text);
  if (sourceCode.getCommentsInside(node).length > 0 || hasLongText) return undefined;
  return (fixer) => {
    const dot = dotOf(context, stages[0]!);
    const receiver = text.slice(0, dot.range[0] - node.range![0]);
    const free = freeNames(context, node);
    const isArrow = stages.some(({ fn }) => fn.type === 'ArrowFunctionExpression');
    const found = isMixed ? free('found', 'all', 'list') : undefined;
    const indent = /^\s*/.exec(sourceCode.lines[dot.loc.start.line - 1]!)![0];
    const element = stages[0]!.param ?? free('each', 'item', 'next');
    const body = bodyOf(context, stages, { element, found, free, indent: `${indent}  `, isArrow });
    const params = [found, element].filter((each) => each !== undefined).join(', ');
    const head = isArrow ? `(${params}) =>` : `function (${params})`;
    const [call, initial] = isMixed ? ['reduce', ', []'] : [stages[0]!.name, ''];
    const lines = body.map((line) => `${indent}  ${line}\n`).join('');
    return fixer.replaceText(node, `${receiver}.${call}(${head} {\n${lines}${indent}}${initial})`);
  };
}

function callOf({ fn }: Stage): ESTree.CallExpression {
  return (fn as unknown as { parent: ESTree.CallExpression }).parent;
}

/** Returns the dot before the method: parentheses around the object are not part of its node. */
function dotOf({ sourceCode }: Context, stage: Stage): AST.Token {
  const { property } = callOf(stage).callee as ESTree.MemberExpression;
  return sourceCode.getTokenBefore(property)!;
}

interface Body {
  /** Name of the element with which the function is called. */
  element: string;
  /** Name of the list that is filled; undefined for a chain of only one method. */
  found: string | undefined;
  free: (...names: string[]) => string;
  indent: string;
  isArrow: boolean;
}

function bodyOf(
  context: Context,
  stages: readonly Stage[],
  { element, found, free, indent, isArrow }: Body,
): string[] {
  const lines: string[] = [];
  let current = element;
  let wanted: string[] = [];
  const returnedWithout = found ?? 'false';
  const leave = (): void => {
    if (wanted.length > 0)
      lines.push(`if (!(${allOf(wanted, indent)})) return ${returnedWithout};`);
    wanted = [];
  };
  for (const [index, stage] of stages.entries()) {
    const isLast = index === stages.length - 1;
    const textOf = (node: ESTree.Node): string =>
      renamedText(context, stage, node, current, indent);
    if (stage.declarations.length > 0) leave();
    lines.push(...stage.declarations.map(textOf));
    const value = textOf(stage.value);
    if (stage.name === 'filter') {
      wanted.push(bindsTighterThanAnd(stage.value) ? value : `(${value})`);
      continue;
    }
    leave();
    if (isLast) {
      return found === undefined
        ? [...lines, `return ${value};`]
        : [...lines, `${found}.push(${value});`, `return ${found};`];
    }
    const made = free('made', 'mapped', 'value');
    lines.push(`${isArrow ? 'const' : 'var'} ${made} = ${value};`);
    current = made;
  }
  if (found === undefined) return [...lines, `return ${allOf(wanted, indent)};`];
  leave();
  return [...lines, `${found}.push(${current});`, `return ${found};`];
}

function allOf(conditions: readonly string[], indent: string): string {
  const line = conditions.join(' && ');
  return line.length > maxLineLength ? conditions.join(` &&\n${indent}  `) : line;
}

/** Returns the text of a part of a callback, with the element renamed and its lines re-indented. */
function renamedText(
  { sourceCode }: Context,
  { uses }: Stage,
  node: ESTree.Node,
  name: string,
  indent: string,
): string {
  const [start, end] = node.range!;
  let text = '';
  let at = start;
  const inside = uses.filter(({ range }) => start <= range![0] && range![1] <= end);
  for (const use of inside.toSorted((a, b) => a.range![0] - b.range![0])) {
    const [from, to] = use.range!;
    const isProperty = isShorthand(use) && use.name !== name;
    text += `${sourceCode.text.slice(at, from)}${isProperty ? `${use.name}: ` : ''}${name}`;
    at = to;
  }
  text += sourceCode.text.slice(at, end);
  const before = /^\s*/.exec(sourceCode.lines[node.loc!.start.line - 1]!)![0];
  return text.replaceAll(`\n${before}`, `\n${indent}`);
}

/** True if the expression binds tighter than `&&`. */
function bindsTighterThanAnd({ type }: ESTree.Expression): boolean {
  return !/^(?:Logical|Conditional)Expression$/.test(type);
}

/** One `map` or `filter` of a chain whose callback only computes. */
export interface Stage {
  name: 'map' | 'filter';
  fn: FunctionNode;
  /** Name of the element; undefined if the callback does not use it. */
  param: string | undefined;
  /** Identifiers that refer to the element. */
  uses: ESTree.Identifier[];
  /** Declarations in the callback before it returns. */
  declarations: ESTree.VariableDeclaration[];
  declared: string[];
  /** Names it uses from outer scopes. */
  outer: string[];
  value: ESTree.Expression;
}

/** Returns the stages of a chain that ends here, in the order in which they run; the first is the innermost. */
export function stagesOf(context: Context, last: ESTree.CallExpression): Stage[] {
  const stages: Stage[] = [];
  for (let node: ESTree.Node = last; ;) {
    const stage = stageOf(context, node);
    if (stage === undefined) return stages;
    stages.unshift(stage);
    node = methodCall(node, 'map', 'filter')!.object;
  }
}

function stageOf(context: Context, node: ESTree.Node): Stage | undefined {
  const call = methodCall(node, 'map', 'filter');
  const [fn, ...others] = call?.args ?? [];
  // A second argument is its `this`.
  if (!call || others.length > 0 || !isFunction(fn) || fn.async || fn.generator) return undefined;
  const [param, ...more] = fn.params;
  if (more.length > 0 || (param !== undefined && param.type !== 'Identifier')) return undefined;
  const body = fn.body.type === 'BlockStatement' ? fn.body.body : [];
  const result = fn.body.type === 'BlockStatement' ? returned(body.at(-1)) : fn.body;
  const declarations = body.slice(0, -1);
  if (!result || !declarations.every(isDeclaration)) return undefined;
  if (![...declarations, result].every((each) => isPure(context, each))) return undefined;
  const { sourceCode } = context;
  const scope = sourceCode.scopeManager.acquire(fn);
  const variable = param && scope?.set.get(param.name);
  const outer = new Set(scope?.through.map(({ identifier }) => identifier.name as string));
  // A function that uses its own name, or its own arguments, cannot be reduced to its body.
  const isAlone =
    fn.type === 'ArrowFunctionExpression' || (fn.id == null && !outer.has('arguments'));
  const ownArguments = scope?.set.get('arguments')?.references.length ?? 0;
  if (!scope || !isAlone || ownArguments > 0 || variable?.defs.length === 2) return undefined;
  const declared = declarations.flatMap(({ declarations: all }) =>
    all.map(({ id }) => (id as ESTree.Identifier).name),
  );
  return {
    name: call.name as Stage['name'],
    fn,
    param: param?.name,
    uses: (variable?.references ?? []).map(({ identifier }) => identifier as ESTree.Identifier),
    declarations,
    declared,
    outer: [...outer],
    value: result,
  };
}

function returned(node: ESTree.Node | undefined): ESTree.Expression | undefined {
  return node?.type === 'ReturnStatement' ? (node.argument ?? undefined) : undefined;
}

/** True for a declaration of plain names with values. */
function isDeclaration(node: ESTree.Node): node is ESTree.VariableDeclaration {
  return (
    node.type === 'VariableDeclaration' &&
    node.declarations.every(({ id, init }) => id.type === 'Identifier' && init != null)
  );
}

/**
 * True if the bodies can be merged into one function: each name is declared once, and no body uses an outer name that another one
 * declares.
 */
export function canJoin(stages: readonly Stage[]): boolean {
  const [{ param: first }] = stages as [Stage];
  const names = [
    ...(first === undefined ? [] : [first]),
    ...stages.flatMap((each) => each.declared),
  ];
  if (new Set(names).size < names.length) return false;
  return stages.every(({ outer, declared, param }, index) =>
    names.every(
      (name) =>
        declared.includes(name) ||
        (index === 0 && name === first) ||
        name === param ||
        !outer.includes(name),
    ),
  );
}

/** True for `{ product }`, which is also a property name. */
export function isShorthand(use: ESTree.Node): boolean {
  const parent = parentOf(use);
  return parent?.type === 'Property' && parent.shorthand;
}
