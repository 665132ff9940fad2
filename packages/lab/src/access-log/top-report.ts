import { blocksText } from '../report/blocks.ts';
import { fileLines, writtenFiles } from '../report/file-lines.ts';
import { commandHeader } from '../report/command-header.ts';
import { cut, ends, left, right, tableWidth, widest, wrap } from '../report/columns.ts';
import { fixed, percent, plural, seconds } from '../report/format.ts';
import { glyphsFor } from '../report/glyphs.ts';
import { markup, type Markup } from '../report/markup.ts';
import { methodList } from '../report/method-list.ts';
import { renderPage } from '../report/page.ts';
import { STACK } from '../report/style.ts';
import type { TerminalOptions } from '../report/terminal-options.ts';
import { formatText } from './log-warnings.ts';
import type { RouteCost, TopResult } from './top.ts';

const minNameWidth = 20;

export function renderTopTerminal(
  result: TopResult,
  options: TerminalOptions & { rows: number },
): string {
  const glyphs = glyphsFor(options.unicode);
  const width = tableWidth(options.width);
  const routes = result.routes.slice(0, options.rows);
  const rest = result.routes.slice(options.rows);
  const blocks = [
    [
      glyphs.rule.repeat(width),
      ...ends(`${result.command.toUpperCase()}   ${result.title}`, spanText(result), width),
      ...wrap(countsText(result), width),
      ...(formatText(result.counts) === undefined ? [] : wrap(formatText(result.counts)!, width)),
    ],
    result.warnings.flatMap((text) => wrap(`! ${text}`, width, '  ')),
    table(routes, result.hasDurations, width),
    [
      ...(rest.length === 0
        ? []
        : [
            `${plural(rest.length, 'more route')}, together ${percent(rest.reduce((sum, { share }) => sum + share, 0))}`,
          ]),
      ...(result.folded === undefined ? [] : wrap(foldedText(result.folded), width)),
      ...wrap(
        result.hasDurations
          ? timesText(result)
          : 'The log has no durations: routes are ordered by requests.',
        width,
      ),
      ...fileLines(writtenFiles(options.files), width),
    ],
  ];
  return blocksText(blocks, glyphs);
}

function table(routes: readonly RouteCost[], hasDurations: boolean, width: number): string[] {
  const headings = hasDurations
    ? ['share', 'total s', 'requests', 'mean ms', 'p99 ms', '5xx']
    : ['share', 'requests', '5xx'];
  const cells = routes.map((each) => cellsOf(each, hasDurations));
  const widths = headings.map((heading, index) =>
    Math.max(heading.length, widest(cells.map((row) => row[index]!))),
  );
  const room = width - widths.reduce((sum, each) => sum + each + 2, 0);
  // Two names that are cut might look the same: if there is too little room, each stands on a line above its row.
  const nameWidth = room < minNameWidth ? 0 : room;
  const line = (name: string, row: readonly string[]): string =>
    left(cut(name, nameWidth), nameWidth) +
    row.map((cell, index) => `  ${right(cell, widths[index]!)}`).join('');
  return [
    ...(nameWidth === 0 ? ['route', line('', headings)] : [line('route', headings)]),
    ...routes.flatMap(({ method, route }, index) => {
      const name = `${method} ${route}`;
      return nameWidth === 0
        ? [cut(name, width), line('', cells[index]!)]
        : [line(name, cells[index]!)];
    }),
  ];
}

function cellsOf(each: RouteCost, hasDurations: boolean): string[] {
  const errors = each.serverErrors === 0 ? '' : fixed(each.serverErrors);
  if (!hasDurations) return [percent(each.share), fixed(each.requests), errors];
  return [
    percent(each.share),
    each.totalMs === undefined ? '–' : fixed(each.totalMs / 1_000, 1),
    fixed(each.requests),
    milliseconds(each.meanMs),
    milliseconds(each.p99Ms),
    errors,
  ];
}

function milliseconds(value: number | undefined): string {
  return value === undefined ? '–' : fixed(value, value < 10 ? 2 : value < 100 ? 1 : 0);
}

function spanText({ spanSeconds, counts }: TopResult): string {
  if (spanSeconds === undefined) return plural(counts.requests, 'request');
  return `${plural(counts.requests, 'request')} in ${seconds(spanSeconds)}`;
}

function timesText({ command }: TopResult): string {
  return command === 'top'
    ? 'total: sum of the times from request to response. It includes waiting as well as work.'
    : 'Times are from the intended send to the last byte, so a server that stalls cannot hide its queue.';
}

function foldedText(folded: readonly string[]): string {
  const more = folded.length > 5 ? ` and ${folded.length - 5} more` : '';
  return `Levels with hundreds of values are one route each: ${folded.slice(0, 5).join(', ')}${more}. --group names them yourself.`;
}

function countsText({ command, counts }: TopResult): string {
  const { lines, other, unreadable } = counts;
  if (command === 'replay') return `${fixed(counts.requests)} of ${fixed(lines)} answered`;
  return `${plural(lines, 'line')}: ${fixed(counts.requests)} requests, ${fixed(other)} other, ${fixed(unreadable)} unreadable`;
}

/** Renders the report of `redline top` as one self-contained file. */
export function renderTopHtml(result: TopResult): string {
  const [first] = result.routes;
  const { counts } = result;
  const findings = [
    ...(first === undefined
      ? []
      : [
          {
            word: 'first',
            text: markup`<b>${first.method} ${first.route}</b>: ${percent(first.share)} of all ${result.hasDurations ? 'time' : 'requests'}, ${plural(first.requests, 'request')}. Measure it with <code>${first.example}</code>.`,
          },
        ]),
    ...(counts.unreadable === 0
      ? []
      : [
          {
            word: 'not read',
            text: markup`${plural(counts.unreadable, 'line')} could not be read, such as <code>${counts.unreadableSamples[0]}</code>`,
          },
        ]),
  ];
  const facts: [string, string][] = [
    ['Files', result.files.join(', ')],
    ['Lines', countsText(result)],
    ['Requests', spanText(result)],
    ...(formatText(counts) === undefined
      ? []
      : ([['Format', formatText(counts)!]] as [string, string][])),
    ...(result.folded === undefined
      ? []
      : ([['Folded', foldedText(result.folded)]] as [string, string][])),
  ];
  return renderPage({
    title: result.title,
    header: commandHeader(result, findings, facts),
    sections: [
      { id: 'routes', heading: 'Routes', css: style, body: routesTable(result) },
      methodList([
        durationText(result),
        'Segments of a path that are numbers, dates, UUIDs, hashes or long tokens are folded; --group names a pattern, --keep-query keeps queries apart.',
      ]),
    ],
  });
}

function durationText({ command }: TopResult): string {
  return command === 'top'
    ? 'Durations are the log’s own: from request to response, so waiting for a database counts as much as work. For CPU, use redline flame and redline stairs.'
    : 'Requests were sent at their times in the log, whether or not earlier ones were answered, and timed from when they were due. Only GET and HEAD requests that succeeded are replayed, without their original headers and cookies.';
}

function routesTable({ routes, hasDurations }: TopResult): Markup {
  const shown = routes.slice(0, 100);
  const max = Math.max(...shown.map(({ share }) => share));
  const rows = shown.map((each) => {
    const bar = markup`<svg height="10" aria-hidden="true"><rect width="${Number(((each.share / max) * 100).toFixed(2))}%" height="10"/></svg>`;
    const times = hasDurations
      ? markup`<td class="n" data-l="total s">${each.totalMs === undefined ? '–' : fixed(each.totalMs / 1_000, 1)}</td><td class="n" data-l="mean ms">${milliseconds(each.meanMs)}</td><td class="n" data-l="p50 ms">${milliseconds(each.p50Ms)}</td><td class="n" data-l="p99 ms">${milliseconds(each.p99Ms)}</td>`
      : undefined;
    return markup`<tr><th scope="row" class="name"><code>${each.method} ${each.route}</code><small>${each.example}</small></th><td class="bar">${bar}</td><td class="n" data-l="share"><b>${percent(each.share)}</b></td>${times}<td class="n" data-l="requests">${fixed(each.requests)}</td><td class="n" data-l="5xx">${fixed(each.serverErrors)}</td></tr>
`;
  });
  const heads = hasDurations
    ? markup`<th scope="col" class="n">total s</th><th scope="col" class="n">mean ms</th><th scope="col" class="n">p50 ms</th><th scope="col" class="n">p99 ms</th>`
    : undefined;
  return markup`<p class="lead">Routes by ${hasDurations ? 'the time all their requests took together' : 'requests: the log has no durations'}.${routes.length > shown.length && ` The first ${shown.length} of ${routes.length}.`}</p><table class="t"><colgroup><col class="w-route"><col></colgroup><thead><tr><th scope="col" class="name">Route</th><th scope="col">Share of ${hasDurations ? 'time' : 'requests'}</th><th scope="col" class="n">share</th>${heads}<th scope="col" class="n">requests</th><th scope="col" class="n">5xx</th></tr></thead><tbody>${rows}</tbody></table>`;
}

const style = `#routes .w-route{width:34%}#routes .bar svg{margin-top:5px}#routes .bar rect{fill:var(--bar)}
${STACK}{#routes :is(table,tbody){display:block}#routes :is(thead,colgroup){display:none}#routes tr{display:grid;grid-template-columns:repeat(3,minmax(0,1fr));column-gap:var(--s2);height:auto;padding:6px 0}#routes :is(th,td){padding:0!important;text-align:left}#routes :is(.name,.bar){grid-column:1/-1}#routes .n::before{content:attr(data-l) " ";color:var(--ink2)}}
`;
