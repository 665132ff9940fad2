import { extname } from 'node:path';

/* In a file of its own, imported when a thread starts: compiled to CommonJS, as Jest does, there is no import.meta. */
export const threadMain: URL = new URL(`./thread-main${extname(import.meta.url)}`, import.meta.url);
