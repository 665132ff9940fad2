/**
 * Returns the text of a key. Every key of this package and of `@redline/nest` is made here: the length in front of each part
 * makes it impossible for the text of one part, which a client may choose, to reach into the next.
 *
 * Undefined differs from every text, so an absent part needs no text of its own.
 */
export function keyOf(...parts: readonly (string | undefined)[]): string {
  let key = '';
  for (const part of parts) key += part === undefined ? '-' : `${part.length}:${part}`;
  return key;
}
