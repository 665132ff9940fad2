import type { AST } from 'eslint';
import type * as ESTree from 'estree';
import { isKnownArray } from '../../ast/known-array.ts';
import { type Context, methodCall } from '../../ast/node.ts';
import { freeNames } from '../../ast/variable.ts';
import type { Edit } from '../../rule.ts';
import { canJoin, isShorthand, type Stage, stagesOf } from './stage.ts';

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
