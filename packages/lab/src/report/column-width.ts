import { textWidth } from './text-width.ts';

/** Size of the small print as a share of the table's. */
const SMALL = 12 / 13;

/** A column as wide as its widest text and no wider, so that the plots get all the rest. */
export function columnWidth(texts: readonly string[], smallTexts: readonly string[] = []): string {
  const large = texts.map((text) => textWidth(text));
  const small = smallTexts.map((text) => textWidth(text) * SMALL);
  return `width:calc(${Math.max(0, ...large, ...small).toFixed(2)}em + 2*var(--pad))`;
}

/** Mark, longest word and the hint below it. */
export const VERDICT_WIDTH = 'width:calc(8.4em + var(--pad))';
