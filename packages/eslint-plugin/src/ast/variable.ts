import type { Scope } from 'eslint';
import type * as ESTree from 'estree';
import type { Context } from './node.ts';

/** Returns the variable an identifier refers to; undefined for globals. */
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

/** Returns the initial value of a variable that is declared once and never written again. */
export function constantValue(variable: Scope.Variable): ESTree.Expression | undefined {
  const [definition, ...others] = variable.defs;
  if (definition?.type !== 'Variable' || others.length > 0) return undefined;
  if (definition.node.id.type !== 'Identifier') return undefined;
  const writes = variable.references.filter((reference) => reference.isWrite());
  return writes.length === 1 ? (definition.node.init ?? undefined) : undefined;
}

/** Returns all uses except the declaration. */
export function usesOf(variable: Scope.Variable): ESTree.Identifier[] {
  return variable.references
    .filter(({ init }) => init !== true)
    .map(({ identifier }) => identifier as ESTree.Identifier);
}

/** Returns the first of these names that is not used in scope. */
export function freeName(context: Context, node: ESTree.Node, ...names: string[]): string {
  return freeNames(context, node)(...names);
}

/** Returns names like `freeName`, for several calls; each name is then reserved. */
export function freeNames(
  { sourceCode }: Context,
  node: ESTree.Node,
): (...names: string[]) => string {
  // Nested functions may declare names that are free around them; property names do not count.
  const own = sourceCode.getTokens(node as never);
  const taken = new Set(
    own.filter((_, at) => own[at - 1]?.value !== '.').map(({ value }) => value),
  );
  let scope: Scope.Scope | null = sourceCode.getScope(node);
  for (; scope; scope = scope.upper) {
    for (const name of scope.set.keys()) taken.add(name);
    for (const { identifier } of scope.through) taken.add(identifier.name as string);
  }
  return (...names) => {
    let free = names.find((name) => !taken.has(name));
    for (let number = 2; free === undefined; number++) {
      if (!taken.has(`${names[0]}${number}`)) free = `${names[0]}${number}`;
    }
    taken.add(free);
    return free;
  };
}
