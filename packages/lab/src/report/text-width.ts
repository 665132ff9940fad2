/** Advance widths of DejaVu Sans in em: the widest of the fonts a page may be shown in. */
const DIGIT = 0.64;
const LETTER = 0.62;
const CAPITAL = 0.7;
const SIGN = 0.84;
const NARROW = 0.4;
/** Width factor of semibold where it falls back to bold. */
const BOLD = 1.1;

/** Estimates the width in em, too wide rather than too narrow: text cannot be measured before it is shown. */
export function textWidth(text: string, bold = false): number {
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return bold ? width * BOLD : width;
}

/** Wraps to lines of at most this many em. Text that does not fit the last line is cut with an ellipsis. */
export function fitText(text: string, maxWidth: number, maxLines: number, bold = false): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/(?<= )/)) {
    if (textWidth((line + word).trimEnd(), bold) <= maxWidth || line === '') line += word;
    else {
      lines.push(line.trimEnd());
      line = word;
    }
  }
  if (line !== '') lines.push(line.trimEnd());
  const kept = lines.slice(0, maxLines);
  if (lines.length > maxLines) kept[maxLines - 1] += '…';
  return kept.map((each) => shorten(each, maxWidth, bold));
}

function shorten(text: string, maxWidth: number, bold: boolean): string {
  if (textWidth(text, bold) <= maxWidth) return text;
  let kept = [...text.replace(/…$/, '')];
  while (kept.length > 0 && textWidth(`${kept.join('')}…`, bold) > maxWidth)
    kept = kept.slice(0, -1);
  return `${kept.join('').trimEnd()}…`;
}

function characterWidth(character: string): number {
  if (character >= '0' && character <= '9') return DIGIT;
  if (/[\s.,:;'|!ijlI[\]()]/.test(character)) return NARROW;
  if (/[×±≈−≥+=%@]/.test(character)) return SIGN;
  if (/[mwMW…]/.test(character)) return 1;
  if (/\p{Lu}/u.test(character)) return CAPITAL;
  return character > '\u1100' && /\p{Letter}|\p{So}/u.test(character) ? 1 : LETTER;
}

/** Font size of the small print, as a share of the table's. */
const SMALL = 12 / 13;

/** Makes a column exactly as wide as its widest text; the plots get the remaining width. */
export function columnWidth(texts: readonly string[], smallTexts: readonly string[] = []): string {
  const large = texts.map((text) => textWidth(text));
  const small = smallTexts.map((text) => textWidth(text) * SMALL);
  return `width:calc(${Math.max(0, ...large, ...small).toFixed(2)}em + 2*var(--pad))`;
}

/** Room for the mark, the longest word and the hint below it. */
export const VERDICT_WIDTH = 'calc(8.4em + var(--pad))';
