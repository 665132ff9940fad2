import {
  argumentsOf,
  at,
  bare,
  listAt,
  methodOf,
  nameOf,
  type Node,
  within,
} from '../syntax/node.ts';
import type { SourceFile } from '../syntax/source-file.ts';
import type { Rule } from './rule.ts';

export const mapBeforeSlice: Rule = {
  id: 'map-before-slice',
  title: 'a list made in full, of which a page is shown',
  *look({ sources, modules, requests }) {
    for (const file of sources) {
      for (const call of file.all('CallExpression')) {
        const slice = methodOf(call);
        if (slice?.name !== 'slice' || argumentsOf(call).length === 0) continue;
        const list = listOf(file, slice.object);
        const map = list && methodOf(list);
        if (list === undefined || map?.name !== 'map') continue;
        const [callback] = argumentsOf(list);
        const fn = callback && modules.functionOf({ file, node: callback });
        const reach = requests.reachOf(call);
        if (fn === undefined || !looksAtOneOnly(fn.node) || reach === undefined) continue;
        const isChain = list === slice.object;
        const mapped = file.text.slice(map.object.end, list.end);
        const sliced = file.text.slice(slice.object.end, call.end);
        const isPure = !hasEffects(fn.file, fn.node);
        yield {
          file,
          start: isChain ? at(call, 'callee')!.end - 'slice'.length : list.start,
          end: isChain ? call.end : list.end,
          sure: isPure ? reach : 'hint',
          why: 'Every item is mapped, and most of what that makes is discarded.',
          how: 'Slice first, then map.',
          ...(isPure && isChain
            ? { edits: [{ file, start: map.object.end, end: call.end, text: sliced + mapped }] }
            : {}),
          ...(fn.file === file ? { seen: { itself: fn.node } } : {}),
        };
      }
    }
  },
};

/** Returns the sliced expression, also through a constant that is only sliced once. */
function listOf(file: SourceFile, object: Node): Node | undefined {
  if (object.type !== 'Identifier') return object;
  const binding = file.scopes.find(nameOf(object)!, object);
  if (binding?.kind !== 'variable' || binding.node.parent?.['kind'] !== 'const') return undefined;
  const uses = file
    .all('Identifier')
    .filter((each) => nameOf(each) === binding.name && each !== binding.identifier)
    .filter((each) => file.scopes.find(binding.name, each) === binding);
  return uses.length === 1 ? bare(at(binding.node, 'init')) : undefined;
}

/** True if it uses neither the index nor the array. */
function looksAtOneOnly(fn: Node): boolean {
  return (
    listAt(fn, 'params').length === 1 &&
    ![...within(fn)].some((each) => nameOf(each) === 'arguments')
  );
}

/** True if it may have side effects. */
function hasEffects(file: SourceFile, callback: Node): boolean {
  return [...within(callback)].some((each) => {
    if (/^(Await|Yield|Update)Expression$/.test(each.type) || each['operator'] === 'delete')
      return true;
    if (each.type === 'AssignmentExpression') {
      const left = bare(at(each, 'left'));
      const name = left?.type === 'Identifier' ? nameOf(left) : undefined;
      const binding = name === undefined ? undefined : file.scopes.find(name, left!);
      return binding === undefined || binding.scope.start < callback.start;
    }
    return /^(push|splice|set|add|delete|shift|pop|unshift|emit|send)$/.test(
      methodOf(each)?.name ?? '',
    );
  });
}
