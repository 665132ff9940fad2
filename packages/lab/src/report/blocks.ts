import type { Glyphs } from './glyphs.ts';

/** What is printed at last: blocks of lines with an empty line between them. A block without lines is left out. */
export function blocksText(blocks: readonly (readonly string[])[], glyphs: Glyphs): string {
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.map((line) => `${glyphs.text(line).trimEnd()}\n`).join(''))
    .join('\n');
}
