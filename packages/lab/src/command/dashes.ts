/**
 * Splits the words at the first `--`. Commander returns both sides in one list, and a command such as `try` needs nothing before
 * it.
 * @param typed The whole command line.
 */
export function splitAtDashes(
  words: readonly string[],
  typed: readonly string[] = process.argv.slice(2),
): { before: string[]; after: string[] | undefined } {
  const at = typed.indexOf('--');
  if (at < 0) return { before: [...words], after: undefined };
  const count = typed.length - at - 1;
  const border = words.length - count;
  return { before: words.slice(0, border), after: words.slice(border) };
}
