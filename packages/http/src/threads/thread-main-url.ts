import { extname } from 'node:path';

/* Alone here, and imported when a thread starts: what compiles the package to CommonJS, as Jest does, has no import.meta. */
export const threadMain: URL = new URL(`./thread-main${extname(import.meta.url)}`, import.meta.url);
