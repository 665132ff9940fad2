import type { Reading } from './reading.ts';

/** What a terminal draws with. All glyphs of both sets are one column wide. */
export interface Glyphs {
  marks: Record<Reading, string>;
  line: string;
  start: string;
  end: string;
  dot: string;
  hollow: string;
  base: string;
  cutLow: string;
  cutHigh: string;
  rule: string;
  barOpen: string;
  barClose: string;
  /** From one eighth to a full cell. */
  barSteps: readonly string[];
  /** Everything that is to be printed goes through here last. */
  text(line: string): string;
}

const UNICODE: Glyphs = {
  marks: { base: ' ', better: '▲', worse: '▼', same: '=', unresolved: '○', withheld: ' ' },
  line: '─',
  start: '├',
  end: '┤',
  dot: '●',
  hollow: '○',
  base: '│',
  cutLow: '◂',
  cutHigh: '▸',
  rule: '─',
  barOpen: '▕',
  barClose: '▏',
  barSteps: ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'],
  // Narrow and figure spaces have the width of a space in a terminal, where the font has them at all.
  text: (line) => line.replace(/[\u00a0\u2007\u2008\u202f]/g, ' '),
};

const PLAIN: Record<string, string> = {
  '×': 'x',
  '·': '-',
  '−': '-',
  '–': '-',
  µ: 'u',
  '≈': '~',
  '±': '~',
  '…': '.',
  '’': "'",
  '≥': '>',
  '→': '>',
};

const ASCII: Glyphs = {
  marks: { base: ' ', better: '^', worse: 'v', same: '=', unresolved: '?', withheld: ' ' },
  line: '-',
  start: '|',
  end: '|',
  dot: 'o',
  hollow: '?',
  base: ':',
  cutLow: '<',
  cutHigh: '>',
  rule: '-',
  barOpen: '[',
  barClose: ']',
  barSteps: ['#'],
  // One for one, so that columns stay where they are.
  text: (line) =>
    // oxlint-disable-next-line no-control-regex
    UNICODE.text(line).replace(/[^\u0000-\u007f]/gu, (character) => PLAIN[character] ?? '?'),
};

export function glyphsFor(unicode: boolean): Glyphs {
  return unicode ? UNICODE : ASCII;
}
