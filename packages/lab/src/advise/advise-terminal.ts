import { blocksText } from '../report/blocks.ts';
import { fileLines, writtenFiles } from '../report/file-lines.ts';
import type { AdviseResult } from './result.ts';
import { adviseFigures, type AdviseRow, rewriteWords, samplingText } from './advise-rows.ts';
import { cut, ends, lineOf, tableWidth, widest, wrap } from '../report/columns.ts';
import { fixed, percent, plural } from '../report/format.ts';
import { type Glyphs, glyphsFor } from '../report/glyphs.ts';
import type { TerminalOptions } from '../report/terminal-options.ts';

/** Renders the report of `redline advise` for a terminal. */
export function renderAdviseTerminal(result: AdviseResult, options: TerminalOptions): string {
  const glyphs = glyphsFor(options.unicode);
  const width = tableWidth(options.width);
  const { rows } = adviseFigures(result);
  const blocks = [
    heading(result, width, glyphs),
    rows.length > 0
      ? table(rows, width)
      : wrap(
          `No rule that gains on Node ${result.node} is hit in a function with ${percent(result.leastShare)} of the time or more.`,
          width,
        ),
    notes(result).flatMap((text) => wrap(text, width, '  ')),
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
  return blocksText(blocks, glyphs);
}

function heading(result: AdviseResult, width: number, glyphs: Glyphs): string[] {
  const { profile, title, node } = result;
  const hits = plural(adviseFigures(result).rows.length, 'hit');
  return [
    glyphs.rule.repeat(width),
    ...ends(`ADVISE   ${title}`, `${hits} · Node ${node}`, width),
    ...wrap(
      `${profile.from}, ${plural(profile.samples, 'sample')} in ${fixed(profile.seconds, 1)} s · ${samplingText(result)}`,
      width,
    ),
  ];
}

function table(rows: readonly AdviseRow[], width: number): string[] {
  const ruleWidth = Math.max(4, widest(rows.map(({ advice }) => advice.rule)));
  const rangeWidth = Math.max(13, widest(rows.map(({ text }) => text.range)));
  const line = lineOf({
    share: { width: 6, gap: 0, align: 'right' },
    rule: { width: ruleWidth },
    gain: { width: 6, align: 'right' },
    range: { width: rangeWidth },
    how: { width: 0 },
  });
  const hows = rows.map(({ advice }) => rewriteWords(advice));
  const hasRoom = 6 + 2 + ruleWidth + 2 + 6 + 2 + rangeWidth + 2 + widest(hows) <= width;
  const head = { share: 'time', rule: 'rule', gain: 'gain ×', range: '95 % interval' };
  return [
    line({ ...head, how: hasRoom ? 'rewrite' : '' }),
    ...rows.flatMap(({ advice, text, place }, index) => [
      '',
      line({
        share: percent(advice.share),
        rule: advice.rule,
        gain: text.value,
        range: text.range,
        how: hasRoom ? hows[index]! : '',
      }),
      ...(hasRoom ? [] : [`        rewrite: ${hows[index]}`]),
      ...ends(`        ${advice.function}`, place, width),
      `        ${cut(advice.code, width - 8)}`,
    ]),
  ];
}

function notes({ unread, leftOut }: AdviseResult): string[] {
  const rules = leftOut.map(({ rule, hits }) => `${rule} (${fixed(hits)})`).join(', ');
  return [
    ...unread.map(({ url, why }) => `! ${url} could not be read: ${why}`),
    ...(leftOut.length > 0 ? [`Left out, not shown to gain on this Node: ${rules}.`] : []),
  ];
}
