import { blocksText } from '../../report/blocks.ts';
import { cut, ends, left, right, tableWidth, widest, wrap } from '../../report/columns.ts';
import { paint } from '../../report/colour.ts';
import { fileLines, writtenFiles } from '../../report/file-lines.ts';
import { glyphsFor, type Glyphs } from '../../report/glyphs.ts';
import type { TerminalOptions } from '../../report/terminal-options.ts';
import type { HeapResult, HeapSite } from '../result.ts';
import {
  growthRows,
  growthText,
  howWords,
  kindsText,
  roundsText,
  shareText,
  shortPathText,
  siteTitle,
  sizeText,
  stackText,
  verdictText,
} from './heap-words.ts';

export function renderHeapTerminal(result: HeapResult, options: TerminalOptions): string {
  const glyphs = glyphsFor(options.unicode);
  const width = tableWidth(options.width);
  const blocks = [
    heading(result, { width, glyphs, colour: options.colour }),
    result.warnings.flatMap((text) => wrap(`! ${text}`, width, '  ')),
    growthTable(result, width),
    ...result.sites.map((site) => siteLines(site, result, width)),
    closing(result, width),
    fileLines(writtenFiles(options.files), width),
  ];
  return blocksText(blocks, glyphs);
}

function heading(
  result: HeapResult,
  { width, glyphs, colour }: { width: number; glyphs: Glyphs; colour: boolean },
): string[] {
  const reading = result.verdict === 'grows' ? 'worse' : 'same';
  const mark = paint(glyphs.marks[reading], reading, colour);
  return [
    glyphs.rule.repeat(width),
    ...ends(`HEAP   ${result.title}`, `${result.variant}, node ${result.node}`, width),
    ...wrap(`${mark} ${verdictText(result)}`, width, '  '),
    ...wrap(`  ${roundsText(result)}, all garbage collected after each`, width, '  '),
  ];
}

function growthTable(result: HeapResult, width: number): string[] {
  const rows = growthRows(result).map(({ name, interval, first, last }) => [
    name,
    growthText(interval),
    `${sizeText(first)} → ${sizeText(last)}`,
  ]);
  const heads = ['', 'per 1\u202f000 requests, 95 %', 'first → last round'];
  const widths = heads.map((head, index) => widest([head, ...rows.map((row) => row[index]!)]));
  const line = (cells: readonly string[]): string =>
    `${left(cells[0]!, widths[0]!)}  ${right(cells[1]!, widths[1]!)}  ${right(cells[2]!, widths[2]!)}`;
  return [heads, ...rows].map((cells) => cut(line(cells), width));
}

function siteLines(site: HeapSite, result: HeapResult, width: number): string[] {
  const size = `${sizeText(site.bytes)} · ${shareText(site, result)}`;
  const where =
    site.functionName === '' ? siteTitle(site) : `${siteTitle(site)}  ${site.functionName}`;
  return [
    ...ends(where, size, width),
    ...(site.line === '' ? [] : [`  | ${cut(site.line, width - 4)}`]),
    ...indented(`${howWords[site.how]}; each request leaves ${kindsText(site)}`, width),
    ...indented(`kept by ${shortPathText(site)}`, width),
    ...(site.stack.length === 0 ? [] : indented(`allocated in ${stackText(site, 3)}`, width)),
  ];
}

function indented(text: string, width: number): string[] {
  return wrap(text, width - 4).map((line) => `    ${line}`);
}

function closing(result: HeapResult, width: number): string[] {
  if (result.verdict === 'steady') {
    return wrap(
      'Not excluded: a leak that these requests do not reach, or one smaller than the interval.',
      width,
    );
  }
  return wrap(
    'Sizes are per 1\u202f000 requests, with their share of the growth. A cache that has not reached its limit yet looks the same.',
    width,
  );
}
