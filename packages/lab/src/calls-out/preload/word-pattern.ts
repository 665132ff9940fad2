/** A part of a key or path that is kept: words of letters in one case, and not as many as an encoded id has. */
const word = /^\p{Lu}?\p{Ll}+(?:[-_]\p{Ll}+)*$/u;
const longest = 16;
/** A version, as in `v2`. */
const version = /^v\d{1,2}$/;
const separators = /([:/.|{}])/;

/** Longer keys and paths are cut. */
const maxLength = 200;

/** True for a part that a developer has written: a token has digits, or letters of both cases, or more of them. */
export function isWord(part: string): boolean {
  return part.length <= longest && word.test(part);
}

/** Replaces every part of a key or path that has a digit or is no word: `user:42:cart` becomes `user:*:cart`. */
export function wordPattern(text: string): string {
  if (text.length > maxLength) {
    // A cut may leave a word of a part that is none.
    const whole = text.slice(0, maxLength).split(separators).slice(0, -1).join('');
    return `${wordPattern(whole)}…`;
  }
  return text
    .split(separators)
    .map((part, index) =>
      index % 2 === 1 || part === '' || isWord(part) || version.test(part) ? part : '*',
    )
    .join('');
}
