// The top of the ladder: what a log line costs where the engine answers, and what is left without one.
import { join } from 'node:path';
import { defineConfig } from '@redline/lab';
import ladder from '../../examples/cached-api/redline.config.ts';

const folder = join(import.meta.dirname, '../../examples/cached-api');
const shown = new Set(['05-engine', '07-memory-before-redis', '08-hook', '09-engine']);

export default defineConfig({
  ...ladder,
  name: 'cached-engine',
  title: 'Cached Nest API above rung 05, GET /cached',
  variants: [
    ...ladder.variants.filter(({ name }) => shown.has(name)),
    {
      name: '10-engine-errors-only',
      note: 'no line for what went well',
      command: ['node', 'dist/10-engine-errors-only.js'],
      cwd: folder,
    },
  ],
});
