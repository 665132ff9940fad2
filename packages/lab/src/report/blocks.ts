import type { Glyphs } from './glyphs.ts';

/** Joins blocks of lines with an empty line between them. Blocks without lines are left out. */
export function blocksText(blocks: readonly (readonly string[])[], glyphs: Glyphs): string {
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.map((line) => `${glyphs.text(line).trimEnd()}\n`).join(''))
    .join('\n');
}
