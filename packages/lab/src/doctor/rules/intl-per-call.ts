import { argumentsOf, at, isCall, methodOf, nameOf, type Node } from '../syntax/node.ts';
import type { SourceFile } from '../syntax/source-file.ts';
import { type PerItem, perItemIn } from './data/per-item.ts';
import { memoisationOf } from './memoisation.ts';
import { hoistEdits, isKnownOutside } from './hoist.ts';
import type { Rule, Sighting } from './rule.ts';

const constructors =
  /^(NumberFormat|DateTimeFormat|Collator|PluralRules|ListFormat|RelativeTimeFormat|Segmenter|DisplayNames|DurationFormat)$/;
/** Min number of arguments with which V8 creates a formatter per call. */
const byName: Readonly<Record<string, number>> = {
  toLocaleString: 2,
  toLocaleDateString: 2,
  toLocaleTimeString: 2,
  localeCompare: 3,
};

export const intlPerCall: Rule = {
  id: 'intl-per-call',
  title: 'a formatter made for each call',
  *look({ sources, requests }) {
    for (const file of sources) {
      for (const call of file.calls()) {
        const made = constructorOf(file, call);
        const reach = made === undefined ? undefined : requests.reachOf(call);
        if (reach === undefined || memoisationOf(file, call) !== undefined) continue;
        const isKnown = argumentsOf(call).every((each) => isKnownOutside(file, each));
        const edits = isKnown ? hoistEdits(file, call, lowered(made!)) : undefined;
        yield {
          file,
          start: call.start,
          end: call.end,
          sure: reach,
          why: `new Intl.${made} loads the data of its locale each time, which takes far longer than formatting one value.`,
          how: isKnown
            ? 'Make it once, outside of the function.'
            : 'Make one for each locale, and keep them in a Map.',
          ...(edits === undefined ? {} : { edits }),
          seen: { calls: [made!] },
        };
      }
      let items: PerItem[] | undefined;
      for (const call of file.all('CallExpression')) {
        const named = byNameIn(file, call);
        const found = named && requests.reachOf(call) !== undefined ? named : undefined;
        items ??= found && [...perItemIn(file)];
        const isPerItem = items?.some(
          ({ body }) => body.start <= call.start && call.end <= body.end,
        );
        if (found !== undefined && isPerItem === true) yield found;
      }
    }
  },
};

function constructorOf(file: SourceFile, call: Node): string | undefined {
  const callee = isCall(call) ? at(call, 'callee') : undefined;
  if (callee?.type !== 'MemberExpression' || callee['computed'] === true) return undefined;
  const object = at(callee, 'object')!;
  const name = nameOf(at(callee, 'property')) ?? '';
  const isIntl = nameOf(object) === 'Intl' && file.scopes.find('Intl', object) === undefined;
  return isIntl && constructors.test(name) ? name : undefined;
}

/** Finds `price.toLocaleString('de-DE', { … })` for each item of a list. */
function byNameIn(file: SourceFile, call: Node): Sighting | undefined {
  const name = methodOf(call)?.name ?? '';
  const from = Object.hasOwn(byName, name) ? byName[name]! : Infinity;
  if (argumentsOf(call).length < from) return undefined;
  return {
    file,
    start: call.start,
    end: call.end,
    sure: 'likely',
    why: `${name} with options makes a formatter for each item, which takes far longer than formatting one.`,
    how: 'Make one Intl.NumberFormat, DateTimeFormat or Collator outside of the function, and use its format or compare.',
    seen: { calls: [name] },
  };
}

function lowered(name: string): string {
  return name[0]!.toLowerCase() + name.slice(1);
}
