// Can 5 % be detected? One server against itself, and against a twin that costs 5 % more CPU per request.
import { join } from 'node:path';
import { defineConfig } from '@redline/lab';

const file = join(import.meta.dirname, '..', 'proofs', 'twin-app.mjs');

export default defineConfig({
  name: 'five-percent',
  title: 'One server, its copy, and a twin 5 % slower',
  requests: ['/items'],
  variants: [
    { name: 'server', command: ['node', file] },
    { name: 'copy', command: ['node', file] },
    { name: 'twin', command: ['node', file], env: { SLOWER: '0.05' } },
  ],
});
