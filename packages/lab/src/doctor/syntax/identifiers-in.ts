/**
 * Returns the words of a text that could be identifiers, including those in comments and strings. Does not use `\b`, for which
 * neither `$` nor `é` is part of a word.
 */
export function identifiersIn(text: string): ReadonlySet<string> {
  return new Set(text.match(/[$\p{ID_Continue}\u200C\u200D]+/gu));
}
