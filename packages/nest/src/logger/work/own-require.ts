import { createRequire } from 'node:module';

/* In a file of its own, imported where it is needed: compiled to CommonJS there is no import.meta. */
export const ownRequire: NodeJS.Require = createRequire(import.meta.url);
