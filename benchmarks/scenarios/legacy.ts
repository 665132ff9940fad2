// The article's table: the same old server on one Node after the other, and on each of them its twin.
// `npx @redline/lab ladder benchmarks/scenarios/legacy.ts`
import { join } from 'node:path';
import { defineConfig, obtainRuntime, parseRuntime } from '@redline/lab';

const majors = [6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26];
const folder = join(import.meta.dirname, '../../examples/legacy-http/src');
const never = new AbortController().signal;

const runtimes = [];
for (const major of majors) {
  const { file, version } = await obtainRuntime(parseRuntime(`node@${major}`), { signal: never });
  runtimes.push({ major, file, version });
}

export default defineConfig({
  name: 'legacy',
  title: 'The legacy server and its twin',
  requests: [
    {
      path: '/shop/shoes/list?page=1&color=red,blue,green,black&min=10&max=180&discount=15&utm_source=mail&utm_campaign=autumn',
      headers: { cookie: 'customer=c1029; lang=en; currency=EUR; seen=1; consent=yes' },
    },
  ],
  load: { connections: 32 },
  precision: { restarts: 5, blocks: 3, sliceMs: 100, warmupMs: 1_500, latencyMs: 300 },
  quick: { restarts: 3, blocks: 2, warmupMs: 600, latencyMs: 100 },
  // A ladder, so that each twin is compared with the rung below it: its original on the same Node.
  variants: runtimes.flatMap(({ major, file, version }) =>
    [
      ['original', '00-original.js'],
      ['twin', '09-twin.js'],
    ].map(([name, step]) => ({
      name: `${name} on node ${major}`,
      note: version,
      command: [file, step!],
      cwd: folder,
    })),
  ),
});
