// The top of the ladder, with variants that it has no time for: a hit before Nest, the same without Nest, and without a log
// line.
import { join } from 'node:path';
import { defineConfig } from '@redline/lab';
import ladder from '../../examples/cached-api/redline.config.ts';

const folder = join(import.meta.dirname, '../../examples/cached-api');
const shown = new Set(['05-engine', '06-errors-only', '07-memory-before-redis', '09-engine']);

const more = [
  { name: '08-hook', note: 'a hit before Nest, every request logged' },
  { name: '10-engine-errors-only', note: 'no line for what went well' },
  { name: 'raw-fastify', note: 'rung 06 without Nest' },
];

export default defineConfig({
  ...ladder,
  name: 'cached-engine',
  title: 'Cached Nest API above rung 05, GET /cached',
  variants: [
    ...ladder.variants.filter(({ name }) => shown.has(name)),
    ...more.map((variant) => ({
      ...variant,
      command: ['node', `dist/${variant.name}.js`],
      cwd: folder,
    })),
  ],
});
