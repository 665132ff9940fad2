import { blocksText } from '../report/blocks.ts';
import { fileLines, writtenFiles } from '../report/file-lines.ts';
import { commandHeader, type CommandFacts, factList } from '../report/command-header.ts';
import { cut, ends, left, right, tableWidth, widest, wrap } from '../report/columns.ts';
import { paint } from '../report/colour.ts';
import { fixed, percent, plural, signed } from '../report/format.ts';
import { type Glyphs, glyphsFor } from '../report/glyphs.ts';
import { markup, type Markup } from '../report/markup.ts';
import { methodList } from '../report/method-list.ts';
import { renderPage } from '../report/page.ts';
import type { Section } from '../report/section.ts';
import { STACK } from '../report/style.ts';
import type { TerminalOptions } from '../report/terminal-options.ts';
import { ownerNames, owners } from '../profile/owner.ts';
import { changeTree, type FunctionChange, kindOf, type ProfileChange } from './change.ts';
import { graphDataOf, microsPerSampleOf } from './graph-data.ts';
import { controls, dataScript } from './graph-section.ts';
import { graphScript } from './graph-script.ts';
import { graphStyle } from './graph-style.ts';
import type { FlameResult } from './result.ts';

/** The result of `redline flame --diff`. */
export interface FlameDiff extends Omit<CommandFacts, 'warnings'> {
  schema: 1;
  command: 'flame-diff';
  scenario: string;
  before: FlameResult;
  after: FlameResult;
  change: ProfileChange;
  warnings: string[];
}

const tableRows = 40;
const terminalRows = 15;
const minNameWidth = 20;
const words = { less: 'better', more: 'worse', same: 'unresolved' } as const;

export function renderChangeHtml(diff: FlameDiff): string {
  const { change, before, after } = diff;
  const { whole } = change;
  const findings = [
    {
      word: 'whole',
      text:
        change.unit === 'micros'
          ? markup`${fixed(whole.before, 1)} µs of main-thread CPU per request before, ${fixed(whole.after, 1)} µs after: ${signed(whole.after - whole.before, 1)} µs.`
          : markup`At least one of the profiles was taken without a load: figures are shares of the samples, and a request that became cheaper does not show.`,
    },
    ...change.functions
      .filter((each) => kindOf(each) !== 'same')
      .slice(0, 4)
      .map((each) => ({
        word: markup`<span class="v ${words[kindOf(each)]}">${kindOf(each)}</span>`,
        text: markup`<b>${each.name}</b> (${each.place || ownerNames[each.owner]}): ${figure(each.before, change)} before, ${figure(each.after, change)} after.`,
      })),
  ];
  const facts: [string, string][] = [before, after].map((each, index) => [
    index === 0 ? 'Before' : 'After',
    `${each.variant}${each.node === undefined ? '' : `, Node ${each.node}`}; ${plural(each.samples, 'sample')}`,
  ]);
  return renderPage({
    title: diff.title,
    header: commandHeader(diff, findings, []),
    sections: [
      graph(diff),
      { id: 'facts', heading: 'Measured on', body: factList(facts) },
      table(change),
      method(),
    ],
  });
}

function graph({ before, after }: FlameDiff): Section {
  const shares = Object.fromEntries(
    owners.map((owner) => [owner, percent(after.owners[owner] / after.samples)]),
  ) as Record<(typeof owners)[number], string>;
  const hasLoad = before.load !== undefined && after.load !== undefined;
  const data = {
    ...graphDataOf(after),
    mode: 'change' as const,
    nodes: changeTree(before, after),
    microsPerSample: hasLoad ? microsPerSampleOf(after) : 0,
    microsPerSampleBefore: hasLoad ? microsPerSampleOf(before) : 0,
    samplesBefore: before.samples,
  };
  return {
    id: 'flame',
    heading: 'Flamegraph of the change',
    css: graphStyle,
    script: graphScript,
    body: markup`<p class="lead">The profile after, coloured by what the same chain of callers took before. Frames that disappeared are listed only in the table. A frame is coloured when the change is beyond the error of sampling.</p><div data-flame>${controls(shares, 0)}<ul class="fg-key" aria-label="Colours"><li class="cl"><b>▲</b>takes less</li><li class="cm"><b>▼</b>takes more, or is new</li><li class="ce"><b>·</b>no change beyond the error of sampling</li></ul><div><svg class="fg" height="21" role="group" aria-label="Flamegraph of the change, root at the top"></svg><p class="fg-say">Enter or click zooms a frame, Esc resets; arrow keys move to caller, callee and neighbours, / searches.</p></div>${dataScript(data)}</div><noscript><p class="lead">The graph needs script; the table below does not.</p></noscript>`,
  };
}

function table(change: ProfileChange): Section {
  const unit = change.unit === 'micros' ? 'µs' : 'share';
  const rows = change.functions.slice(0, tableRows).map(
    (each) =>
      markup`<tr><th scope="row" class="name"><code>${each.name}</code><small>${ownerNames[each.owner]}</small></th><td class="place"><code>${each.place || '–'}</code></td><td class="n" data-l="before">${figure(each.before, change)}</td><td class="n" data-l="after">${figure(each.after, change)}</td><td class="n" data-l="change"><b>${difference(each, change)}</b><small>${rangeText(each, change)}</small></td><td>${verdict(each)}</td></tr>
`,
  );
  return {
    id: 'change',
    heading: 'Functions by change of own time',
    css: `#change .w-fn{width:22%}#change .w-n{width:8.5em}#change .w-range{width:12.5em}#change .w-v{width:10.5em}#change td{overflow-wrap:anywhere}
${STACK}{#change :is(table,tbody){display:block}#change :is(thead,colgroup){display:none}#change tr{display:grid;grid-template-columns:repeat(3,minmax(0,1fr));column-gap:var(--s2);height:auto;padding:6px 0}#change :is(th,td){padding:0!important;text-align:left}#change :is(.name,.place){grid-column:1/-1}#change .n::before{content:attr(data-l) " ";color:var(--ink2)}}
`,
    body: markup`<p class="lead">Own time, ${unit === 'µs' ? 'µs per request on the main thread' : 'share of the samples'}, with the 95 % interval of the sampling error. Functions are matched by name and file, so edited lines do not separate them; two files that share most of their functions count as one.</p><table class="t"><colgroup><col class="w-fn"><col><col class="w-n"><col class="w-n"><col class="w-range"><col class="w-v"></colgroup><thead><tr><th scope="col" class="name">Function</th><th scope="col">Place</th><th scope="col" class="n">before<small>${unit}</small></th><th scope="col" class="n">after<small>${unit}</small></th><th scope="col" class="n">change<small>95 % interval</small></th><th scope="col">Own time</th></tr></thead><tbody>${rows}</tbody></table>`,
  };
}

function verdict(each: FunctionChange): Markup {
  const kind = kindOf(each);
  return markup`<span class="v ${words[kind]}">${kind === 'same' ? 'not told apart' : kind}</span>`;
}

function method(): Section {
  return methodList([
    'Each side is one profile of one process. The intervals cover sampling error only; two starts of the same code differ by more, mainly in what V8 inlines, which moves time between a caller and its callees.',
    'To see whether a change pays, use redline bench, which starts both sides several times.',
  ]);
}

function figure(value: number, { unit }: ProfileChange): string {
  return unit === 'micros' ? fixed(value, 2) : percent(value);
}

function difference({ before, after }: FunctionChange, { unit }: ProfileChange): string {
  return unit === 'micros' ? signed(after - before, 2) : `${signed((after - before) * 100, 2)} %`;
}

function rangeText({ low, high }: FunctionChange, { unit }: ProfileChange): string {
  const scale = unit === 'micros' ? 1 : 100;
  return `[${fixed(low * scale, 2)}, ${fixed(high * scale, 2)}]`;
}

export function renderChangeTerminal(diff: FlameDiff, options: TerminalOptions): string {
  const glyphs = glyphsFor(options.unicode);
  const width = tableWidth(options.width);
  const { change, before, after } = diff;
  const blocks = [
    [
      glyphs.rule.repeat(width),
      ...ends(`FLAME --diff   ${before.variant} → ${after.variant}`, '', width),
      wholeText(change),
    ],
    diff.warnings.flatMap((text) => wrap(`! ${text}`, width, '  ')),
    changeTable(change, { width, glyphs, colour: options.colour }),
    [
      ...wrap(
        `${glyphs.marks.better} less, ${glyphs.marks.worse} more: beyond the sampling error, of one run each. redline bench shows whether it pays.`,
        width,
      ),
      ...fileLines(writtenFiles(options.files), width),
    ],
  ];
  return blocksText(blocks, glyphs);
}

function wholeText({ unit, whole }: ProfileChange): string {
  return unit === 'micros'
    ? `main thread per request ${fixed(whole.before, 1)} → ${fixed(whole.after, 1)} µs, ${signed(whole.after - whole.before, 1)}`
    : 'at least one profile was taken without a load: figures are shares';
}

function changeTable(
  change: ProfileChange,
  { width, glyphs, colour }: { width: number; glyphs: Glyphs; colour: boolean },
): string[] {
  const rows = change.functions.slice(0, terminalRows);
  const unit = change.unit === 'micros' ? 'µs' : '%';
  const cells = rows.map((each) => [
    figure(each.before, change).replace(/\s?%$/, ''),
    figure(each.after, change).replace(/\s?%$/, ''),
    difference(each, change).replace(/ %$/, ''),
    rangeText(each, change),
  ]);
  const heads = [`before ${unit}`, `after ${unit}`, 'change', '95 % interval'];
  const widths = heads.map((head, index) =>
    Math.max(head.length, widest(cells.map((row) => row[index]!))),
  );
  const room = width - 2 - widths.reduce((sum, each) => sum + each + 2, 0);
  // Function names stand above their rows if there is no room beside them.
  const nameWidth = room < minNameWidth ? Math.max(0, room) : room;
  const line = (mark: string, name: string, row: readonly string[]): string =>
    `${mark} ${left(cut(name, nameWidth), nameWidth)}${row.map((cell, index) => `  ${right(cell, widths[index]!)}`).join('')}`;
  return [
    line(' ', room < minNameWidth ? '' : 'own time', heads),
    ...rows.flatMap((each, index) => {
      const reading = words[kindOf(each)];
      const mark = reading === 'unresolved' ? ' ' : glyphs.marks[reading];
      const painted = paint(mark, reading, colour);
      if (room >= minNameWidth) return [line(painted, each.name, cells[index]!)];
      return [`${painted} ${cut(each.name, width - 2)}`, line(' ', '', cells[index]!)];
    }),
  ];
}
