// The verdicts of real runs on a server's copy, and on twins that cost 3 and 10 % more CPU per request.
import { join } from 'node:path';
import { defineConfig } from '@redline/lab';

const file = join(import.meta.dirname, '..', 'proofs', 'twin-app.mjs');

export default defineConfig({
  name: 'three-percent',
  title: 'One server, its copy, and twins 3 and 10 % slower',
  requests: ['/items'],
  variants: [
    { name: 'server', command: ['node', file] },
    { name: 'copy', command: ['node', file] },
    { name: 'twin 3 %', command: ['node', file], env: { SLOWER: '0.03' } },
    { name: 'twin 10 %', command: ['node', file], env: { SLOWER: '0.1' } },
  ],
});
