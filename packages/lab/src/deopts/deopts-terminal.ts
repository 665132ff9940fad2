import { blocksText } from '../report/blocks.ts';
import { fileLines, writtenFiles } from '../report/file-lines.ts';
import { ends, tableWidth, wrap } from '../report/columns.ts';
import { fixed, percent, plural } from '../report/format.ts';
import { glyphsFor, type Glyphs } from '../report/glyphs.ts';
import type { TerminalOptions } from '../report/terminal-options.ts';
import { profiledText } from '../profile/profiled-thread.ts';
import { tierMarks, tierNames } from '../profile/tiers.ts';
import type { DeoptFunction, DeoptSite, DeoptsResult } from './result.ts';
import { leftOutText, shown, statusOf } from './words.ts';

export function renderDeoptsTerminal(
  result: DeoptsResult,
  options: TerminalOptions & { all: boolean },
): string {
  const glyphs = glyphsFor(options.unicode);
  const width = tableWidth(options.width);
  const functions = shown(result, options.all);
  // Each explanation is given once, at the first place with its reason.
  const explained = new Set<string>();
  const blocks = [
    heading(result, width, glyphs),
    result.warnings.flatMap((text) => wrap(`! ${text}`, width, '  ')),
    ...functions.map((each) => functionLines(each, width, explained)),
    closing(result, functions.length, width),
    fileLines(writtenFiles(options.files), width),
  ];
  return blocksText(blocks, glyphs);
}

function heading(result: DeoptsResult, width: number, glyphs: Glyphs): string[] {
  const { variant, node, functions, profiled } = result;
  const total = functions.reduce(
    (sum, { sites }) => sum + sites.reduce((times, site) => times + site.times, 0),
    0,
  );
  return [
    glyphs.rule.repeat(width),
    ...ends(
      `DEOPTS   ${result.title}`,
      node === undefined ? variant : `${variant}, node ${node}`,
      width,
    ),
    ...wrap(
      `${plural(total, 'deopt')} in ${plural(functions.length, 'function')}; the app's own first, each by its own time`,
      width,
    ),
    ...(profiled === undefined ? [] : wrap(`of ${profiledText(profiled)}`, width)),
  ];
}

function functionLines(each: DeoptFunction, width: number, explained: Set<string>): string[] {
  const own = each.own === undefined ? '' : `own ${percent(each.own)} · `;
  return [
    ...ends(`${each.name}  ${each.place}`, `${own}now ${tierNames[each.now]}`, width),
    ...indented(historyText(each), 2, width),
    ...each.sites.flatMap((site) => siteLines(site, each, width, explained)),
  ];
}

/** Returns, for example, `~ 0.61 s  + 0.63 s  * 0.72 s  ! 0.85 s`; `!` marks a deopt. */
function historyText({ history }: DeoptFunction): string {
  const maxSteps = 14;
  const steps = history.map(({ seconds, tier, deopt }) => {
    const mark = deopt === undefined ? tierMarks[tier] : `!${tierMarks[tier]}`;
    return seconds === undefined ? mark : `${mark} ${fixed(seconds, 2)} s`;
  });
  if (steps.length <= maxSteps) return steps.join('  ');
  return [
    ...steps.slice(0, maxSteps / 2),
    `(${steps.length - maxSteps} more)`,
    ...steps.slice(-maxSteps / 2),
  ].join('  ');
}

function siteLines(
  site: DeoptSite,
  each: DeoptFunction,
  width: number,
  explained: Set<string>,
): string[] {
  const inlined = site.inlinedAt.map((place) => `, inlined at ${place}`).join('');
  const { reason, times, from, kind, place, explanation } = site;
  const what = `${times} × ${reason}; left ${tierNames[from]} (${kind}); ${statusOf(each, site)}`;
  const isNew = explanation !== undefined && !explained.has(explanation);
  if (isNew) explained.add(explanation);
  return [
    ...indented(what, 2, width),
    ...(place === '' ? [] : indented(place + inlined, 6, width)),
    ...sourceLines(site, width - 6).map((line) => `      ${line}`),
    ...(isNew ? indented(explanation, 6, width) : []),
  ];
}

function indented(text: string, by: number, width: number): string[] {
  return wrap(text, width - by).map((line) => ' '.repeat(by) + line);
}

/** Returns the line with a caret below the place; a long line is shown around it. */
function sourceLines({ source }: DeoptSite, width: number): string[] {
  if (source === undefined) return [];
  const indent = /^\s*/.exec(source.text)![0].length;
  const text = source.text.trim();
  const at = Math.max(0, source.column - 1 - indent);
  const room = width - 2;
  const from = at < room - 8 ? 0 : at - Math.floor(room / 2);
  return [
    `| ${from > 0 ? '…' : ''}${text.slice(from, from + room - 1)}`,
    `| ${' '.repeat(at - from + (from > 0 ? 1 : 0))}^`,
  ];
}

function closing(result: DeoptsResult, count: number, width: number): string[] {
  const rest = leftOutText(result, count);
  return [
    ...wrap('~ Ignition, ^ Sparkplug, + Maglev, * TurboFan; !~ discarded, back to Ignition', width),
    ...(rest === '' ? [] : wrap(rest, width, '  ')),
  ];
}
