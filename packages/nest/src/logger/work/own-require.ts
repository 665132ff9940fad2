import * as nodeModule from 'node:module';

/* A file of its own, imported on demand: code that is compiled to CommonJS has no import.meta and must not load it. webpack
   removes a `createRequire` that is imported by its name. */
export const ownRequire: NodeJS.Require = nodeModule.createRequire(import.meta.url);
