import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Only in a bundle of webpack or Rspack. Its `import.meta.url` is a path of the machine that made it. */
declare const __webpack_require__: unknown;

const ending = /find-thread-main(\.[jt]s)$/;

/* A separate file, imported when a thread starts: compiled to CommonJS, as by Jest, import.meta is missing. */

/**
 * Finds the program of the threads, next to this file, with the same extension. A bundle does not contain it.
 *
 * @throws In a bundle; the message is one clause that says what to do.
 */
export function findThreadMain(): URL {
  // Not the second argument of `new URL`: webpack would copy the file that it names, which does not run alone.
  const here: string | undefined = import.meta.url;
  if (typeof __webpack_require__ === 'undefined' && here !== undefined && ending.test(here)) {
    const url = new URL(here.replace(ending, 'thread-main$1'));
    if (existsSync(fileURLToPath(url))) return url;
  }
  throw new Error('this bundle cannot start threads; mark @redline/http as external');
}
