import { createRequire } from 'node:module';

/* A file of its own, imported on demand: code that is compiled to CommonJS has no import.meta and must not load it. */
export const ownRequire: NodeJS.Require = createRequire(import.meta.url);
