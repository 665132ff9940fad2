import { textWidth } from './text-width.ts';

/** Font size of the small print, as a share of the table's. */
const SMALL = 12 / 13;

/** Makes a column exactly as wide as its widest text; the plots get the remaining width. */
export function columnWidth(texts: readonly string[], smallTexts: readonly string[] = []): string {
  const large = texts.map((text) => textWidth(text));
  const small = smallTexts.map((text) => textWidth(text) * SMALL);
  return `width:calc(${Math.max(0, ...large, ...small).toFixed(2)}em + 2*var(--pad))`;
}

/** Room for the mark, the longest word and the hint below it. */
export const VERDICT_WIDTH = 'width:calc(8.4em + var(--pad))';
