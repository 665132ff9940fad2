/** Markdown for pull requests and agents: a heading, sentences, tables. Text from outside is escaped. */

/** Joins blocks with a blank line between them. */
export function markdownOf(...blocks: readonly (string | undefined)[]): string {
  const text = blocks.filter((block) => block !== undefined && block !== '').join('\n\n');
  // Narrow and figure spaces align columns; Markdown has no such columns.
  return `${text.replaceAll(/[\u00a0\u2007\u2008\u202f]/g, ' ')}\n`;
}

export function heading(text: string): string {
  return `### ${escaped(text)}`;
}

export function warningList(texts: readonly string[]): string {
  return texts.map((text) => `> ${escaped(text)}`).join('\n>\n');
}

export function list(items: readonly string[]): string {
  return items.map((item) => `- ${item}`).join('\n');
}

/** A column of words, or of right-aligned figures. */
export type Column = string | { right: string };

/** Expects cells that are Markdown already. */
export function table(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const heads = columns.map((column) => (typeof column === 'string' ? column : column.right));
  const rules = columns.map((column) => (typeof column === 'string' ? '---' : '--:'));
  return [heads, rules, ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll(/(?<!\\)\|/g, '\\|')).join(' | ')} |`)
    .join('\n');
}

/** Returns an empty string for an empty text: two bare backticks would show. */
export function code(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  if (line === '') return '';
  return line.includes('`') ? `\`\` ${line} \`\`` : `\`${line}\``;
}

export function escaped(text: string): string {
  return text.replaceAll(/[<>|*_`\\]/g, '\\$&').replaceAll(/\s+/g, ' ');
}

export function bold(text: string): string {
  return `**${text}**`;
}
