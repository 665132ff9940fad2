import { join } from 'node:path';
import { defineConfig } from '@redline/lab';
import { steps } from './build.mts';

const folder = join(import.meta.dirname, 'src');

export default defineConfig({
  name: 'legacy-http',
  title: 'Legacy shop, GET /shop/shoes/list',
  requests: [
    {
      path: '/shop/shoes/list?page=1&color=red,blue,green,black&min=10&max=180&discount=15&utm_source=mail&utm_campaign=autumn',
      headers: { cookie: 'customer=c1029; lang=en; currency=EUR; seen=1; consent=yes' },
    },
  ],
  load: { connections: 32 },
  precision: { restarts: 7, blocks: 2, sliceMs: 200, warmupMs: 1_500, latencyMs: 200 },
  quick: { restarts: 4, blocks: 1, warmupMs: 600, latencyMs: 200 },
  variants: steps.map((step) => ({
    name: step,
    command: ['node', `${step}.js`],
    cwd: folder,
  })),
});
