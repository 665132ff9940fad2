import { argumentsOf, at, nameOf, type Node, stringOf } from '../../syntax/node.ts';
import type { SourceFile } from '../../syntax/source-file.ts';
import { isOfItem, type PerItem, perItemIn } from '../data/per-item.ts';
import { memoisationOf } from '../memoisation.ts';
import { hoistEdits, isKnownOutside } from '../hoist.ts';
import type { Rule } from '../rule.ts';

export const regexpPerCall: Rule = {
  id: 'regexp-per-call',
  title: 'a regular expression made for each item',
  *look({ sources, requests }) {
    for (const file of sources) {
      const items = [...perItemIn(file)];
      for (const call of file.calls()) {
        if (!isRegExp(file, call) || memoisationOf(file, call) !== undefined) continue;
        const item = innermost(items, call);
        const reach = requests.reachOf(call);
        if (item === undefined || reach === undefined) continue;
        const args = argumentsOf(call);
        // A pattern made from the item differs each time.
        if (args.length === 0 || args.some((each) => isOfItem(file, each, item))) continue;
        const isKnown = args.every((each) => isKnownOutside(file, each));
        // With these flags a regular expression keeps its position between calls.
        const isShared =
          isKnown && !/[gy]/.test(args[1] === undefined ? '' : (stringOf(args[1]) ?? 'g'));
        const edits = isShared ? hoistEdits(file, call, 'pattern') : undefined;
        yield {
          file,
          start: call.start,
          end: call.end,
          sure: 'likely',
          why: 'The same expression is created for each item: parsed, or looked up in a cache by its text.',
          how: isKnown
            ? 'Create it once, outside of the function.'
            : 'Create it once, before the loop.',
          ...(edits === undefined ? {} : { edits }),
          seen: { calls: ['RegExp'] },
        };
      }
    }
  },
};

function isRegExp(file: SourceFile, call: Node): boolean {
  const callee = at(call, 'callee');
  return (
    callee?.type === 'Identifier' &&
    nameOf(callee) === 'RegExp' &&
    file.scopes.find('RegExp', callee) === undefined
  );
}

function innermost(items: readonly PerItem[], { start, end }: Node): PerItem | undefined {
  return items
    .filter(({ body }) => body.start <= start && end <= body.end)
    .toSorted((a, b) => b.body.start - a.body.start)[0];
}
