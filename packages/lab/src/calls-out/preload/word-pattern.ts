/** A part of a key or path that is kept: letters alone, and not as many as an encoded id has. */
const word = /^[\p{L}_-]{1,24}$/u;
/** A version, as in `v2`. */
const version = /^v\d{1,2}$/;
const separators = /([:/.|{}])/;

/** Longer keys and paths are cut. */
const maxLength = 200;

/** Replaces every part of a key or path that has a digit or is no word: `user:42:cart` becomes `user:*:cart`. */
export function wordPattern(text: string): string {
  const parts = text.slice(0, maxLength).split(separators);
  return parts
    .map((part, index) =>
      index % 2 === 1 || part === '' || word.test(part) || version.test(part) ? part : '*',
    )
    .join('');
}
