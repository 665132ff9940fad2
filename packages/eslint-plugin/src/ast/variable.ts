import type { Scope } from 'eslint';
import type * as ESTree from 'estree';
import type { Context } from './node.ts';

/** The variable an identifier refers to; undefined for globals. */
export function variableOf(
  { sourceCode }: Pick<Context, 'sourceCode'>,
  node: ESTree.Node,
): Scope.Variable | undefined {
  if (node.type !== 'Identifier') return undefined;
  let scope: Scope.Scope | null = sourceCode.getScope(node);
  for (; scope; scope = scope.upper) {
    const variable = scope.set.get(node.name);
    if (variable) return variable.defs.length > 0 ? variable : undefined;
  }
  return undefined;
}

/** Its initial value, when it is declared once and never written again. */
export function constantValue(variable: Scope.Variable): ESTree.Expression | undefined {
  const [definition, ...others] = variable.defs;
  if (definition?.type !== 'Variable' || others.length > 0) return undefined;
  if (definition.node.id.type !== 'Identifier') return undefined;
  const writes = variable.references.filter((reference) => reference.isWrite());
  return writes.length === 1 ? (definition.node.init ?? undefined) : undefined;
}

/** All uses but the declaration. */
export function usesOf(variable: Scope.Variable): ESTree.Identifier[] {
  return variable.references
    .filter(({ init }) => init !== true)
    .map(({ identifier }) => identifier as ESTree.Identifier);
}

/** A name of these that nothing in reach uses yet. */
export function freeName({ sourceCode }: Context, node: ESTree.Node, ...names: string[]): string {
  const taken = new Set<string>();
  let scope: Scope.Scope | null = sourceCode.getScope(node);
  for (; scope; scope = scope.upper) {
    for (const name of scope.set.keys()) taken.add(name);
    for (const { identifier } of scope.through) taken.add(identifier.name as string);
  }
  const free = names.find((name) => !taken.has(name));
  if (free !== undefined) return free;
  for (let number = 2; ; number++) {
    if (!taken.has(`${names[0]}${number}`)) return `${names[0]}${number}`;
  }
}
