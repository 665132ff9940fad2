// A against A: the same server under three names. Any difference is the method's own error.
import { defineConfig } from '@redline/lab';
import ladder from '../../examples/cached-api/redline.config.ts';

const rung = ladder.variants.find(({ name }) => name === '04-auto-pipelining')!;

export default defineConfig({
  ...ladder,
  name: 'aa',
  title: 'The same server against itself',
  precision: { restarts: 14, blocks: 2, sliceMs: 200, warmupMs: 2_000, latencyMs: 200 },
  variants: [
    { ...rung, name: 'a' },
    { ...rung, name: 'a too' },
  ],
});
