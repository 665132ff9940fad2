import type { AST } from 'eslint';
import type * as ESTree from 'estree';
import { isKnownArray } from '../../ast/known-array.ts';
import { type Context, methodCall } from '../../ast/node.ts';
import { freeNames } from '../../ast/variable.ts';
import type { Edit } from '../../rule.ts';
import { canJoin, isShorthand, type Stage, stagesOf } from './stage.ts';

/** A longer condition has a line for each callback. */
const mostLine = 80;

/**
 * One pass for a chain whose callbacks only compute: each element goes through all of them before the next one does.
 * Undefined where a callback may do more than that, or looks at more than the element, and where a comment would be lost.
 */
export function onePassEdit(context: Context, node: ESTree.CallExpression): Edit | undefined {
  const stages = stagesOf(context, node);
  const { sourceCode } = context;
  if (stages.length < 2 || !canJoin(stages)) return undefined;
  const first = methodCall(callOf(stages[0]!), 'map', 'filter')!;
  const isMixed = stages.some(({ name }) => name !== stages[0]!.name);
  // Another thing with these methods may call back later, or more than once.
  if (!isKnownArray(context, first.object)) return undefined;
  const text = sourceCode.getText(node);
  // Lines are moved, but not those of a text.
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

/** Where the method is taken from its object, brackets around which are not part of its node. */
function dotOf({ sourceCode }: Context, stage: Stage): AST.Token {
  const { property } = callOf(stage).callee as ESTree.MemberExpression;
  return sourceCode.getTokenBefore(property)!;
}

interface Body {
  /** The name of the element that the function is called with. */
  element: string;
  /** The list that is filled; undefined for a chain of one method only. */
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
  const leaving = found ?? 'false';
  const leave = (): void => {
    if (wanted.length > 0) lines.push(`if (!(${allOf(wanted, indent)})) return ${leaving};`);
    wanted = [];
  };
  for (const [index, stage] of stages.entries()) {
    const isLast = index === stages.length - 1;
    const textOf = (node: ESTree.Node): string => moved(context, stage, node, current, indent);
    if (stage.declarations.length > 0) leave();
    lines.push(...stage.declarations.map(textOf));
    const value = textOf(stage.value);
    if (stage.name === 'filter') {
      wanted.push(isTight(stage.value) ? value : `(${value})`);
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
  return line.length > mostLine ? conditions.join(` &&\n${indent}  `) : line;
}

/** The text of a part of a callback, with another name for the element and its lines moved. */
function moved(
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

/** Binds tighter than `&&`. */
function isTight({ type }: ESTree.Expression): boolean {
  return !/^(?:Logical|Conditional)Expression$/.test(type);
}
