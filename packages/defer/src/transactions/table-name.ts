import { optionError } from '../errors.ts';

/**
 * Quotes a name, or a schema and a name.
 *
 * @throws {DeferError} ERR_REDLINE_DEFER_OPTION: it is neither
 */
export function quoteTable(table: string, quote: '"' | '`' = '"'): string {
  const parts = table.split('.');
  if (parts.length > 2 || parts.some((part) => part === '' || part.includes('\0'))) {
    throw optionError(
      `The option table must be a name, or a schema and a name with a dot between them; got ${JSON.stringify(table)}.`,
    );
  }
  return parts.map((part) => quote + part.replaceAll(quote, quote + quote) + quote).join('.');
}
