import { fileLines, writtenFiles } from '../report/file-lines.ts';
import type { AdviseResult } from './result.ts';
import { adviseFigures, rewriteWords, samplingText } from './advise-rows.ts';
import { cut, ends, left, right, tableWidth, widest, wrap } from '../report/columns.ts';
import { fixed, percent, plural } from '../report/format.ts';
import { glyphsFor } from '../report/glyphs.ts';
import type { TerminalOptions } from '../report/terminal-options.ts';

/** The report of `redline advise` for people in a terminal. */
export function renderAdviseTerminal(result: AdviseResult, options: TerminalOptions): string {
  const glyphs = glyphsFor(options.unicode);
  const width = tableWidth(options.width);
  const { rows } = adviseFigures(result);
  const ruleWidth = Math.max(4, widest(rows.map(({ advice }) => advice.rule)));
  const rangeWidth = Math.max(13, widest(rows.map(({ text }) => text.range)));
  const line = (share: string, rule: string, gain: string, interval: string, how: string): string =>
    `${right(share, 6)}  ${left(rule, ruleWidth)}  ${right(gain, 6)}  ${left(interval, rangeWidth)}  ${how}`;
  const hows = rows.map(({ advice }) => rewriteWords(advice));
  const hasRoom = 6 + 2 + ruleWidth + 2 + 6 + 2 + rangeWidth + 2 + widest(hows) <= width;
  const table = rows.flatMap(({ advice, text, place }, index) => [
    line(
      percent(advice.share),
      advice.rule,
      text.value,
      text.range,
      hasRoom ? hows[index]! : '',
    ).trimEnd(),
    ...(hasRoom ? [] : [`        rewrite: ${hows[index]}`]),
    ...ends(`        ${advice.function}`, place, width),
    `        ${cut(advice.code, width - 8)}`,
    '',
  ]);
  const { profile } = result;
  const notes = [
    ...result.unread.map(({ url, why }) => `! ${url} could not be read: ${why}`),
    ...(result.leftOut.length > 0
      ? [
          `Left out, not shown to gain on this Node: ${result.leftOut.map(({ rule, hits }) => `${rule} (${fixed(hits)})`).join(', ')}.`,
        ]
      : []),
  ].flatMap((text) => wrap(text, width, '  '));
  const blocks = [
    [
      glyphs.rule.repeat(width),
      ...ends(
        `ADVISE   ${result.title}`,
        `${plural(rows.length, 'hit')} · Node ${result.node}`,
        width,
      ),
      ...wrap(
        `${profile.from}, ${plural(profile.samples, 'sample')} in ${fixed(profile.seconds, 1)} s · ${samplingText(result)}`,
        width,
      ),
    ],
    rows.length > 0
      ? [
          line('time', 'rule', 'gain ×', '95 % interval', hasRoom ? 'rewrite' : ''),
          '',
          ...table.slice(0, -1),
        ]
      : [
          `No rule that gains on Node ${result.node} is hit in a function with ${percent(result.leastShare)} of the time or more.`,
        ],
    notes,
    [
      ...(rows.length > 0
        ? wrap(
            'time: of the function, with the builtins it calls. gain: of that piece of code alone, as measured on this Node; the request gains less.',
            width,
          )
        : []),
      ...fileLines(writtenFiles(options.files), width),
      ...(rows.length > 0 ? [`Next: redline prove ${rows[0]!.advice.rule}`] : []),
    ],
  ];
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.map((each) => `${glyphs.text(each).trimEnd()}\n`).join(''))
    .join('\n');
}
