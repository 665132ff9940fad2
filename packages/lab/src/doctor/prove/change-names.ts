import type { Candidate } from '../examine.ts';

/** Names the app with a change by the rule of the change, with the line if a rule found more than one. */
export function changeNames(changes: readonly Candidate[]): string[] {
  const named = changes.map(({ finding: { rule, line } }) => ({ rule, line }));
  return named.map(({ rule, line }, index) => {
    const same = named.filter((each) => each.rule === rule);
    const isOne = same.length === 1;
    const isOneLine = same.filter((each) => each.line === line).length === 1;
    return `+ ${rule}${isOne ? '' : isOneLine ? `:${line}` : `:${line} #${index + 1}`}`;
  });
}
