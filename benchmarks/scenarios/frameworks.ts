// One JSON route in each framework, on node:http and, through `--import @redline/http/register`, on the engine, on the Node
// versions in use. Variants are named FRAMEWORK/MAJOR and FRAMEWORK-redline/MAJOR, and each pair is a group. The floor of
// each group is FRAMEWORK-floor/MAJOR.
import { join } from 'node:path';
import { defineConfig, obtainRuntime, parseRuntime } from '@redline/lab';
import { engine } from '@redline/http';
import { obtainContenders, obtainFrameworks, programs } from '../contenders/obtain.ts';
import { browserHeaders, product } from '../requests.ts';

const majors = ['node22', 'node24', 'node26'];
const frameworks: Record<string, string> = {
  express5: 'Express 5',
  express4: 'Express 4',
  'nest-express': 'Nest on Express',
  koa: 'Koa',
  hono: 'Hono',
  fastify: 'Fastify',
  'nest-fastify': 'Nest on Fastify',
  polka: 'Polka',
  h3: 'h3',
  node: 'no framework',
};
const quickFrameworks = new Set(['express5', 'nest-express', 'hono', 'fastify']);
const never = new AbortController().signal;
const runtimes = new Map<string, { file: string; version: string }>();
for (const major of majors) {
  const spec = parseRuntime(major.replace('node', 'node@'));
  runtimes.set(major, await obtainRuntime(spec, { signal: never }));
}

const pairs = majors.flatMap((major) =>
  Object.entries(frameworks).map(([framework, title]) => ({ major, framework, title })),
);

export default defineConfig({
  name: 'frameworks',
  title: 'One JSON route in every framework',
  requests: [{ path: '/', headers: browserHeaders }],
  load: { connections: 64, openLoopRps: 1_000, turns: false },
  precision: { restarts: 3, blocks: 4, sliceMs: 200, warmupMs: 1_500, latencyMs: 200 },
  quick: { restarts: 4, blocks: 3, sliceMs: 150, warmupMs: 1_000, latencyMs: 100 },
  groups: Object.fromEntries(
    pairs.map(({ major, framework, title }) => [
      `${framework}-${major}`,
      {
        title: `${title} on Node ${runtimes.get(major)!.version}`,
        floor: `${framework}-floor/${major}`,
      },
    ]),
  ),
  variants: pairs.flatMap(({ major, framework, title }) => {
    const { file, version } = runtimes.get(major)!;
    const isQuick = major === majors.at(-1) && quickFrameworks.has(framework);
    const quick = isQuick ? {} : { quick: false as const };
    const variant = (name: string, note: string, options: string[]) => ({
      name: `${name}/${major}`,
      note: `${note}, Node ${version}`,
      group: `${framework}-${major}`,
      command: [file, ...options, 'server.js', framework],
      cwd: join(import.meta.dirname, '../contenders/frameworks'),
      ...quick,
    });
    return [
      variant(framework, title, []),
      variant(`${framework}-redline`, `${title} on the engine`, [
        '--import',
        '@redline/http/register',
      ]),
      {
        name: `${framework}-floor/${major}`,
        note: 'epoll, one read, one write',
        group: `${framework}-${major}`,
        command: [programs.floor],
        // Without the trailing spaces: the frameworks serialise the object.
        env: { BODY: product.trimEnd() },
        ...quick,
      },
    ];
  }),

  async setup() {
    const missing = await obtainFrameworks();
    if (missing !== undefined) throw new Error(`The frameworks are missing: ${missing}`);
    const served = engine();
    const skip =
      served.name === 'native'
        ? []
        : pairs.map(({ major, framework }) => [`${framework}-redline/${major}`, served.reason]);
    const { floor } = await obtainContenders(['floor']);
    const unbuilt =
      floor === undefined
        ? []
        : pairs.map(({ major, framework }) => [`${framework}-floor/${major}`, floor]);
    return { env: { PRODUCT: product }, skip: Object.fromEntries([...skip, ...unbuilt]) };
  },
});
