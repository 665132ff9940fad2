// The article's table: the same old server on successive Node versions, with its twin on each.
// `npx @redline/lab ladder benchmarks/scenarios/legacy.ts`
import { join } from 'node:path';
import { defineConfig, obtainRuntime, parseRuntime, type VariantConfig } from '@redline/lab';
// Writes the twin.
import '../../examples/legacy-http/build.mts';

const majors = [6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26];
const folder = join(import.meta.dirname, '../../examples/legacy-http/src');
const never = new AbortController().signal;

const runtimes: { major: number; file: string; version: string }[] = [];
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
  // Each original is compared with itself on the previous Node, and each twin with its original on the same Node.
  variants: runtimes.flatMap(({ major, file, version }, index) => {
    const before = runtimes[index - 1];
    const on = (name: string, step: string, over: string | undefined): VariantConfig => ({
      name: `${name} on node ${major}`,
      note: version,
      ...(over === undefined ? {} : { over }),
      command: [file, step],
      cwd: folder,
    });
    return [
      on('original', '00-original.js', before && `original on node ${before.major}`),
      on('twin', '09-twin.js', `original on node ${major}`),
    ];
  }),
});
