import {
  argumentsOf,
  at,
  bare,
  isFunction,
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
  *look({ sources, requests }) {
    for (const file of sources) {
      for (const call of file.all('CallExpression')) {
        const slice = methodOf(call);
        const map = slice?.name === 'slice' ? methodOf(slice.object) : undefined;
        if (slice === undefined || map?.name !== 'map' || argumentsOf(call).length === 0) continue;
        const [callback] = argumentsOf(slice.object);
        const reach = requests.reachOf(call);
        if (callback === undefined || !looksAtOneOnly(callback) || reach === undefined) continue;
        const mapped = file.text.slice(map.object.end, slice.object.end);
        const sliced = file.text.slice(slice.object.end, call.end);
        const isPure = !hasEffects(file, callback);
        yield {
          file,
          start: at(call, 'callee')!.end - 'slice'.length,
          end: call.end,
          sure: isPure ? reach : 'hint',
          why: 'Every item is mapped, and most of what that makes is discarded.',
          how: 'Slice first, then map.',
          ...(isPure
            ? { edits: [{ file, start: map.object.end, end: call.end, text: sliced + mapped }] }
            : {}),
          seen: { itself: bare(callback)! },
        };
      }
    }
  },
};

/** It does not ask for the index, or for the array. */
function looksAtOneOnly(callback: Node): boolean {
  const fn = bare(callback);
  return (
    isFunction(fn) &&
    listAt(fn, 'params').length === 1 &&
    ![...within(fn)].some((each) => nameOf(each) === 'arguments')
  );
}

/** Whether it may change something that is not its own. */
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
