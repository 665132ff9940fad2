import type { ProveResult } from './result.ts';
import { percent, plural } from '../report/format.ts';
import { bold, code, escaped, heading, markdownOf, table } from '../report/markdown.ts';
import { duration, proveFigures } from './prove-rows.ts';
import { WORDS } from '../report/reading.ts';

/** Renders a row for each rule on each Node. */
export function proveMarkdown(result: ProveResult): string {
  const rows = proveFigures(result).rows.map(({ rule, node, measured, skipped }) => {
    const name = `${code(rule.rule)}${rule.changesResult === undefined ? '' : ', changes the result'}`;
    if (!measured) return [name, node, '–', '–', '–', `not measured: ${escaped(skipped ?? '')}`];
    const { runtime, gain, text } = measured;
    const word = WORDS[gain.reading];
    return [
      name,
      node,
      duration(runtime.beforeNanos),
      duration(runtime.afterNanos),
      `${text.value} ${text.range}`,
      word === 'changed' ? bold(word) : word,
    ];
  });
  const columns = [
    'rule',
    'Node',
    { right: 'before' },
    { right: 'after' },
    { right: 'gain ×' },
    'verdict',
  ];
  const { restarts, blocks, leastGain } = result.precision;
  return markdownOf(
    heading(`redline prove: ${plural(result.rules.length, 'rule')}`),
    table(columns, rows),
    `Time before by time after, of that piece of code alone. ${plural(restarts, 'restart')} of ${plural(blocks, 'block')}; no difference is within ± ${percent(leastGain)}. ${escaped(result.machine.cpuModel)}.`,
  );
}
