// A result as the reader meets it, in whatever medium: a terminal, a page, or Markdown.
import type { Axis } from '../report/axis.ts';
import type { ColumnText } from '../report/format.ts';
import { markup, type Markup } from '../report/markup.ts';
import { code as codeMarkdown } from '../report/markdown.ts';
import type { Estimate } from '../report/reading.ts';
import type { RunFacts } from '../report/run-facts.ts';
import type { Section as PageSection } from '../report/page.ts';
import type { Canvas, Text } from './text.ts';

/** An empty value is left out. */
export type Maybe<Of> = Of | '' | false | undefined;

export type Medium = 'terminal' | 'page' | 'markdown';

export interface Document extends RunFacts {
  /** Begins the terminal report, e.g. `TOP`. */
  label: string;
  title: string;
  /** Heading of the page and of the Markdown. @default the title */
  pageTitle?: string;
  /** Stands beside the title, e.g. `39 000 requests in 1 h`. */
  aside: string;
  /** The circumstances in sentences; a page lists them as facts. */
  about: readonly Maybe<Text>[];
  facts: readonly Maybe<Fact>[];
  /** The reason to believe no figure; before the warnings. */
  alarm?: Text | undefined;
  warnings: readonly string[];
  /** Begin the page. */
  findings?: readonly Maybe<Finding>[];
  sections: readonly Maybe<Section | Drawing>[];
  /** Ends the page: how the figures were obtained. */
  method?: readonly Maybe<string>[];
  /** Limits of the figures, beside it. */
  limits?: readonly string[];
  /** The smallest difference that this run could have shown, for the page; other media have it in `about`. */
  resolution?: string | undefined;
  /** A command to type next. */
  next?: string | undefined;
  /** Files besides the page and the data, by what they hold. */
  files?: Readonly<Record<string, string | undefined>>;
}

export type Fact = readonly [name: string, value: string];

/** One word in the margin, and a sentence. */
export interface Finding {
  word: Text;
  text: Text;
}

export interface Section {
  /** Anchor on the page. */
  id: string;
  heading: string;
  /** Heads the section in a terminal, where it needs one. */
  label?: string;
  /** Explains the section on the page. */
  lead?: Text;
  parts: readonly Part[];
}

export type Part = Table | Notes | Commands | Items | Drawn;

interface Placed {
  /** Media that show the part or the column. @default all */
  in?: readonly Medium[] | undefined;
}

/** Sentences, each on a line of its own. */
export interface Notes extends Placed {
  kind: 'notes';
  texts: readonly Maybe<Text>[];
}

/** Commands to copy. */
export interface Commands extends Placed {
  kind: 'commands';
  intro: string;
  lines: readonly string[];
}

/** Entries that need more room than a row, such as a finding with its evidence. */
export interface Items extends Placed {
  kind: 'items';
  items: readonly Item[];
  /** Numbers them in a terminal, as a page does. */
  isNumbered?: boolean;
}

export interface Item {
  title: Text;
  /** Stands at the other end of the title's line. */
  aside: string;
  lines: readonly Maybe<Text | Drawn>[];
}

/** Has its own form in each medium, and none in the others. Lines of a terminal are cut. */
export interface Drawn extends Placed {
  kind?: undefined;
  /** For a terminal and Markdown, where these have no form of their own. */
  text?: Text;
  terminal?: readonly string[];
  page?: Markup | undefined;
  markdown?: string;
}

/** A section that draws itself. */
export interface Drawing {
  terminal?: (canvas: Canvas) => string[];
  page?: PageSection | undefined;
  markdown?: string | undefined;
}

export interface Table extends Placed {
  kind: 'table';
  /** Puts the units on a line of their own in a terminal. */
  hasUnitLine: boolean;
  /** Writes the name of several rows of one name once in a terminal. */
  groupsNames: boolean;
  columns: readonly Head[];
  rows: readonly Row[];
  limit: Readonly<Partial<Record<Medium, number>>>;
  /** Says what the limit leaves out. */
  rest: ((from: number) => string) | undefined;
}

export interface Row extends Placed {
  /** Class on a page, for the lines around it. */
  className: string | undefined;
  cells: readonly (Cell | undefined)[];
  /** Explains why the cells from the first missing one on were not measured. */
  skipped: string | undefined;
}

/** Text, a figure with its interval, marks on an axis, or what a page alone draws. */
export type Cell = Text | ColumnText | Plotted | Markup;

export interface Plotted {
  /** Names the mark for the tooltip and for screen readers. */
  title: string;
  text: string;
  estimate: Estimate;
  /** Where a bar begins. @default 0 */
  from?: number;
  /** Further marks on a page, below the others. */
  marks?: readonly Markup[];
}

export interface Head extends Placed {
  kind: 'name' | 'text' | 'figure' | 'estimate' | 'plot';
  head: string;
  /** Shown below the head of a page, and after it elsewhere. */
  unit?: string;
  /** Belongs below the name: on a line of its own in a terminal, in small print on a page. */
  isDetail?: boolean;
  /** Stands out on a page. */
  isMain?: boolean;
  /** Cut in a terminal; names are, if they stay apart. */
  isCode?: boolean;
  /** Shortens a text to the room that the other columns of a terminal leave. */
  shorten?: (text: string, width: number) => string;
  /** Left out of a terminal that is too narrow. */
  isOptional?: boolean;
  /** Follows the column before it without a gap in a terminal. */
  isTight?: boolean;
  /** Axis of a plot: dots with whiskers over a line at 1, or bars. */
  axis?: Axis;
  bars?: boolean;
  /** Line across the bars. */
  reference?: number | undefined;
  /** Counts as no difference. */
  band?: { low: number; high: number };
  /** Width on a page, in CSS. */
  width?: string;
}

type Options = Omit<Head, 'kind' | 'head'>;

export interface Column<Of> extends Head {
  cell(of: Of): Cell | undefined;
}

type CellOf<Of> = (of: Of) => Cell | undefined;

/** Returns the column that names the rows. */
export function name<Of>(head: string, cell: CellOf<Of>, options: Options = {}): Column<Of> {
  return { kind: 'name', head, cell, ...options };
}

export function words<Of>(head: string, cell: CellOf<Of>, options: Options = {}): Column<Of> {
  return { kind: 'text', head, cell, ...options };
}

export function figure<Of>(head: string, cell: CellOf<Of>, options: Options = {}): Column<Of> {
  return { kind: 'figure', head, cell, ...options };
}

/** Returns a column of figures with their intervals. */
export function estimate<Of>(head: string, cell: CellOf<Of>, options: Options = {}): Column<Of> {
  return { kind: 'estimate', head, cell, ...options };
}

export function plot<Of>(
  head: string,
  axis: Axis,
  cell: CellOf<Of>,
  options: Options = {},
): Column<Of> {
  return { kind: 'plot', head, axis, cell, in: ['terminal', 'page'], ...options };
}

/** Returns an estimate without an interval, for a bar. */
export function pointOf(value: number): Estimate {
  return { value, low: value, high: value, reading: 'withheld' };
}

export function detail<Of>(head: string, cell: CellOf<Of>, options: Options = {}): Column<Of> {
  return { kind: 'text', head, cell, isDetail: true, ...options };
}

export function table<Of>(
  of: readonly Of[],
  columns: readonly Column<Of>[],
  options: {
    skipped?: (of: Of) => string | undefined;
    className?: (of: Of) => string | undefined;
    rowIn?: (of: Of) => readonly Medium[] | undefined;
    limit?: Table['limit'];
    rest?: Table['rest'];
    hasUnitLine?: boolean;
    groupsNames?: boolean;
    in?: readonly Medium[];
  } = {},
): Table {
  const { skipped, className, rowIn, limit = {}, rest } = options;
  const { hasUnitLine = false, groupsNames = false } = options;
  return {
    kind: 'table',
    hasUnitLine,
    groupsNames,
    columns,
    rows: of.map((each) => ({
      cells: columns.map((column) => column.cell(each)),
      skipped: skipped?.(each),
      className: className?.(each),
      in: rowIn?.(each),
    })),
    limit,
    rest,
    in: options.in,
  };
}

export function notes(texts: readonly Maybe<Text>[], media?: readonly Medium[]): Notes {
  return { kind: 'notes', texts, in: media };
}

export function items(of: readonly Item[], media?: readonly Medium[]): Items {
  return { kind: 'items', items: of, in: media };
}

/** Quotes a line of source. */
export function source(text: string): Drawn {
  return {
    terminal: [`| ${text.trim()}`],
    page: markup`<pre><code>${text}</code></pre>`,
    markdown: codeMarkdown(text),
  };
}

/** Shows a unified diff; a terminal shows the changed lines without their context. */
export function diff(text: string): Drawn {
  return {
    terminal: text
      .split('\n')
      .filter((line) => /^[-+]/.test(line) && !/^(---|\+\+\+) /.test(line))
      .filter((line) => line.trim().length > 1),
    page: markup`<pre><code>${text}</code></pre>`,
    markdown: `\n\`\`\`diff\n${text.trimEnd()}\n\`\`\``,
  };
}

export function present<Of>(of: readonly Maybe<Of>[]): Of[] {
  return of.filter((each): each is Of => each !== '' && each !== false && each !== undefined);
}

export function isText(value: unknown): value is Text {
  return typeof value === 'string' || Array.isArray(value);
}

export function isEstimate(cell: Cell | undefined): cell is ColumnText {
  return typeof cell === 'object' && 'range' in cell;
}

export function isPlotted(cell: Cell | undefined): cell is Plotted {
  return typeof cell === 'object' && 'estimate' in cell;
}

export function headText({ head, unit }: Head): string {
  return unit === undefined ? head : `${head} ${unit}`;
}

export function isIn(medium: Medium, { in: media }: Placed): boolean {
  return media === undefined || media.includes(medium);
}

/** Returns the rows that a medium shows, and the sentence on those it leaves out. */
export function shownRows(
  medium: Medium,
  { rows: all, limit, rest }: Table,
): { rows: readonly Row[]; rest: string | undefined } {
  const rows = all.filter((row) => isIn(medium, row));
  const max = limit[medium] ?? rows.length;
  return { rows: rows.slice(0, max), rest: rows.length > max ? rest?.(max) : undefined };
}
