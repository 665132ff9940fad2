import { extname } from 'node:path';

/* A separate file, imported when a thread starts: compiled to CommonJS, as by Jest, import.meta is missing. */
export const threadMain: URL = new URL(`./thread-main${extname(import.meta.url)}`, import.meta.url);
