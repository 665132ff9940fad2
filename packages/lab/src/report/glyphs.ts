import type { Reading } from './reading.ts';

/** Drawing characters of a terminal. All glyphs of both sets are one column wide. */
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
  /** Converts each line as the last step before printing. */
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
  // In a terminal, narrow and figure spaces are as wide as a space, if the font has them at all.
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
  // One character for one, so that columns stay aligned.
  text: (line) =>
    // oxlint-disable-next-line no-control-regex
    UNICODE.text(line).replace(/[^\u0000-\u007f]/gu, (character) => PLAIN[character] ?? '?'),
};

export function glyphsFor(unicode: boolean): Glyphs {
  return unicode ? UNICODE : ASCII;
}
