import type { Rule } from 'eslint';
import type * as ESTree from 'estree';
import {
  type Context,
  globalCall,
  isGlobal,
  isLiteral,
  methodCall,
  parentOf,
  selfAndAncestors,
} from '../../ast/node.ts';
import { variableOf } from '../../ast/variable.ts';
import { defineRule, type Edit, type RuleModule } from '../../rule.ts';

export const noArgumentsSlice: RuleModule = defineRule(
  {
    name: 'no-arguments-slice',
    advice: 'take a rest parameter: copying arguments makes them an object first',
    fixes: true,
  },
  (report, context) => ({
    CallExpression(node) {
      const from = sliceStart(context, node);
      if (from === undefined) return;
      const edit = editOf(context, node, from);
      report(node, edit && { fix: edit });
    },
  }),
);

/** Returns the index of the first copied argument; undefined if `node` is not a copy of `arguments`. */
function sliceStart(context: Context, node: ESTree.CallExpression): number | undefined {
  const isArguments = (part: ESTree.Node | undefined): boolean =>
    part?.type === 'Identifier' && part.name === 'arguments';
  const fromArray = globalCall(context, node, 'Array', 'from');
  if (fromArray?.length === 1 && isArguments(fromArray[0])) return 0;
  const call = methodCall(node, 'call');
  if (call?.object.type !== 'MemberExpression' || !isArguments(call.args[0])) return undefined;
  const { object, property, computed } = call.object;
  if (computed || property.type !== 'Identifier' || property.name !== 'slice') return undefined;
  const isOfArray =
    (object.type === 'ArrayExpression' && object.elements.length === 0) ||
    (object.type === 'MemberExpression' &&
      isGlobal(context, object.object, 'Array') &&
      context.sourceCode.getText(object) === 'Array.prototype');
  if (!isOfArray || call.args.length > 2) return undefined;
  const [, start] = call.args;
  if (start === undefined) return 0;
  return isLiteral(start, 'number') ? Number(start.value) : undefined;
}

/** Returns an edit only if the copy starts directly after the named parameters, and nothing else reads `arguments`. */
function editOf(context: Context, node: ESTree.Node, from: number): Edit | undefined {
  const { sourceCode } = context;
  const declarator = parentOf(node);
  const declaration = declarator && parentOf(declarator);
  const block = declaration && parentOf(declaration);
  const owner = block && parentOf(block);
  if (declarator?.type !== 'VariableDeclarator' || declarator.id.type !== 'Identifier')
    return undefined;
  if (declaration?.type !== 'VariableDeclaration' || declaration.declarations.length !== 1)
    return undefined;
  if (owner?.type !== 'FunctionDeclaration' && owner?.type !== 'FunctionExpression')
    return undefined;
  if (owner.params.length !== from || owner.params.some(({ type }) => type !== 'Identifier'))
    return undefined;
  if (owner.body.body.some((each) => 'directive' in each)) return undefined;
  // Setters and getters do not accept a rest parameter, and parameter names must be unique with one.
  const holder = parentOf(owner);
  if (holder && 'kind' in holder && /^[gs]et$/.test(String(holder.kind))) return undefined;
  if (variableOf(context, declarator.id)?.defs.length !== 1) return undefined;
  const uses = argumentsOf(context, owner);
  if (uses !== 1) return undefined;
  const { name } = declarator.id;
  return (fixer) => {
    const open = sourceCode.getTokens(owner).find(({ value }) => value === '(')!;
    const last = owner.params.at(-1);
    const edits: Rule.Fix[] = [
      last
        ? fixer.insertTextAfter(last, `, ...${name}`)
        : fixer.insertTextAfter(open, `...${name}`),
    ];
    const [start, stop] = declaration.range!;
    const end = stop + /^\s*/.exec(sourceCode.text.slice(stop))![0].length;
    edits.push(fixer.removeRange([start, end]));
    return edits;
  };
}

function argumentsOf({ sourceCode }: Context, owner: ESTree.Node): number {
  const scope = sourceCode.scopeManager.acquire(owner);
  const variable = scope?.set.get('arguments');
  return (
    variable?.references.filter(({ identifier }) =>
      [...selfAndAncestors(identifier as ESTree.Node)].includes(owner as never),
    ).length ?? 0
  );
}
