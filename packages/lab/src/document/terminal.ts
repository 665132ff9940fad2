import { cut, ends, tableWidth, widthOf, wrap } from '../report/columns.ts';
import { fileLines, writtenFiles } from '../report/file-lines.ts';
import { glyphsFor } from '../report/glyphs.ts';
import type { TerminalOptions } from '../report/terminal-options.ts';
import {
  type Document,
  type Drawing,
  type Drawn,
  isIn,
  isText,
  type Item,
  type Part,
  present,
  type Section,
} from './document.ts';
import { tableLines } from './terminal-table.ts';
import { type Canvas, linesOf, plain } from './text.ts';

const indent = '    ';

/** Renders a document for a terminal: complete without colour, ends with a line break. */
export function renderTerminal(document: Document, options: TerminalOptions): string {
  const glyphs = glyphsFor(options.unicode);
  const canvas = { width: tableWidth(options.width), glyphs, colour: options.colour };
  const { width } = canvas;
  const { label, title, aside, about, alarm, warnings, sections, files, next } = document;
  const blocks = [
    [
      glyphs.rule.repeat(width),
      ...ends(`${label}   ${title}`, aside, width),
      ...present(about).flatMap((text) => linesOf(text, canvas, '')),
    ],
    present([alarm && plain(alarm), ...warnings]).flatMap((text) => wrap(`! ${text}`, width, '  ')),
    ...present(sections).flatMap((section) => terminalBlocks(section, canvas)),
    [
      ...fileLines({ ...writtenFiles(options.files), ...files }, width),
      ...(next === undefined ? [] : nextLines(next, width)),
    ],
  ];
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.map((line) => `${glyphs.text(line).trimEnd()}\n`).join(''))
    .join('\n');
}

/** Returns the blocks of lines of a section. */
function terminalBlocks(section: Section | Drawing, canvas: Canvas): string[][] {
  if (!('parts' in section)) return [section.terminal?.(canvas) ?? []];
  const blocks = section.parts
    .filter((part) => isIn('terminal', part))
    .flatMap((part) => blocksOf(part, canvas));
  const [first, ...others] = blocks;
  if (section.label === undefined || first === undefined) return blocks;
  return [[...wrap(section.label, canvas.width), ...first], ...others];
}

function blocksOf(part: Part, canvas: Canvas): string[][] {
  const { width } = canvas;
  switch (part.kind) {
    case 'table':
      return [tableLines(part, canvas)];
    case 'notes':
      return [present(part.texts).flatMap((text) => linesOf(text, canvas))];
    case 'commands':
      return [
        [
          ...wrap(`${part.intro}:`, width),
          ...part.lines.flatMap((line) => commandLines(line, width)),
        ],
      ];
    case 'items':
      return part.items.map((item, index) =>
        itemLines(item, canvas, part.isNumbered ? index + 1 : undefined),
      );
    case undefined:
      return [drawnLines(part, canvas)];
  }
}

function itemLines({ title, aside, lines }: Item, canvas: Canvas, number?: number): string[] {
  const { width } = canvas;
  const inner = { ...canvas, width: width - indent.length };
  const head = (number === undefined ? '' : `${number}`.padStart(2) + '  ') + plain(title);
  const fits = widthOf(head) + 2 + widthOf(aside) <= width;
  const below = present(lines).flatMap((line) =>
    drawnLines(isText(line) ? { text: line } : line, inner),
  );
  return [
    ...(fits ? ends(head, aside, width) : wrap(head, width, indent)),
    ...[...(fits || aside === '' ? [] : wrap(aside, inner.width)), ...below].map(
      (line) => indent + line,
    ),
  ];
}

function drawnLines({ text, terminal = [] }: Drawn, canvas: Canvas): string[] {
  if (text !== undefined) return linesOf(text, canvas, '');
  return terminal.map((line) => cut(line, canvas.width));
}

function nextLines(command: string, width: number): string[] {
  const whole = `Next: ${command}`;
  return widthOf(whole) <= width ? [whole] : ['Next:', ...commandLines(command, width)];
}

/** Commands are meant to be copied: one that is too long is wrapped with a backslash at the end of the line. */
function commandLines(command: string, width: number): string[] {
  const whole = `  ${command}`;
  if (widthOf(whole) <= width) return [whole];
  const lines = wrap(command, width - 4, '  ');
  return lines.map((line, index) => `  ${line}${index < lines.length - 1 ? ' \\' : ''}`);
}
