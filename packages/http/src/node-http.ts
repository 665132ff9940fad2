import { createRequire } from 'node:module';

/**
 * `node:http`, required: `import` would evaluate every getter of it, and behind one of them is a second HTTP client. That is
 * 2.5 MiB in a process that did not ask for it.
 */
export const http = createRequire(import.meta.url)('node:http') as typeof import('node:http');
