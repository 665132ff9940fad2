import { paint } from '../report/colour.ts';
import { wrap } from '../report/columns.ts';
import type { Glyphs } from '../report/glyphs.ts';
import { bold, code as codeMarkdown, escaped } from '../report/markdown.ts';
import { markup, type Markup } from '../report/markup.ts';
import { type Reading, WORDS } from '../report/reading.ts';
import { verdictWord } from '../report/words.ts';

/** Text with names, code and verdicts in it, which each medium marks in its own way. */
export type Text = string | readonly Span[];

export type Span = string | { readonly strong: string } | { readonly code: string } | Verdict;

/** A word with the mark and the colour of a reading. */
export interface Verdict {
  readonly reading: Reading;
  readonly word: string;
}

/** The width, the characters and the colours of a terminal. */
export interface Canvas {
  readonly width: number;
  readonly glyphs: Glyphs;
  readonly colour: boolean;
}

/** Tags a template of texts: say`${strong(name)} takes ${micros} µs.` */
export function say(
  parts: TemplateStringsArray,
  ...values: readonly (Text | number | false | undefined)[]
): readonly Span[] {
  return parts.flatMap((part, index) => {
    const value = values[index];
    const given =
      value === undefined || value === false
        ? []
        : spansOf(typeof value === 'number' ? `${value}` : value);
    return part === '' ? given : [part, ...given];
  });
}

export function strong(text: string): Text {
  return [{ strong: text }];
}

export function code(text: string): Text {
  return [{ code: text }];
}

export function verdict(reading: Reading, word: string = WORDS[reading]): Text {
  return [{ reading, word }];
}

export function verdictsIn(text: Text): Verdict[] {
  return spansOf(text).filter(isVerdict);
}

export function plain(text: Text): string {
  return spansOf(text).map(wordsOf).join('');
}

/** Wraps a text to lines, with the marks of its verdicts. */
export function linesOf(text: Text, { width, glyphs, colour }: Canvas, indent = '  '): string[] {
  const marked = spansOf(text).map((span) =>
    isVerdict(span) ? markedWord(span, glyphs) : wordsOf(span),
  );
  const lines = wrap(marked.join(''), width, indent);
  return verdictsIn(text).reduce((painted, found) => {
    const word = markedWord(found, glyphs);
    return painted.map((line) => line.replace(word, () => paint(word, found.reading, colour)));
  }, lines);
}

/** Keeps the mark and the word on one line. */
export function markedWord({ reading, word }: Verdict, { marks }: Glyphs): string {
  return word === '' ? marks[reading] : `${marks[reading]}\u00a0${word}`;
}

export function toMarkup(text: Text): Markup {
  return markup`${spansOf(text).map((span) => {
    if (typeof span === 'string') return markup`${span}`;
    if ('strong' in span) return markup`<b>${span.strong}</b>`;
    if ('code' in span) return markup`<code>${span.code}</code>`;
    return verdictWord(span.reading, span.word);
  })}`;
}

export function toMarkdown(text: Text): string {
  return spansOf(text)
    .map((span) => {
      if (typeof span === 'string') return escaped(span);
      if ('strong' in span) return bold(escaped(span.strong));
      if ('code' in span) return codeMarkdown(span.code);
      return isChange(span) ? bold(escaped(span.word)) : escaped(span.word);
    })
    .join('');
}

function isVerdict(span: Span): span is Verdict {
  return typeof span === 'object' && 'reading' in span;
}

function isChange({ reading, word }: Verdict): boolean {
  return reading === 'better' || reading === 'worse' || word === WORDS.better;
}

function wordsOf(span: Span): string {
  if (typeof span === 'string') return span;
  return 'strong' in span ? span.strong : 'code' in span ? span.code : span.word;
}

function spansOf(text: Text): readonly Span[] {
  return typeof text === 'string' ? [text] : text;
}
