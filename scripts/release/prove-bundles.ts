import { execFile } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expectNative, serve } from './proof-app.ts';
import { installFor, type ProofOptions } from './prove-install.ts';
import { ReleaseError, say } from './say.ts';
import { thisLibc } from './this-libc.ts';

const run = promisify(execFile);

/** Packages without an engine: only checks that the bundle starts. */
const starting = [
  '@redline/response-cache',
  '@redline/response-cache/express',
  '@redline/defer',
  '@redline/defer/express',
].map((name) => ({
  name,
  hasEngine: false,
  entry: `
import * as all from '${name}';
console.log(JSON.stringify({ answer: Object.keys(all).length > 0 ? 'answer' : 'no exports' }));
`,
}));

const packages = [
  {
    name: '@redline/http',
    hasEngine: true,
    entry: `
import { createServer, engine } from '@redline/http';
const server = createServer((request, response) => response.end('answer'));
server.listen(0, '127.0.0.1', async () => {
  const response = await fetch(\`http://127.0.0.1:\${server.address().port}/\`);
  console.log(JSON.stringify({ answer: await response.text(), engine: engine() }));
  process.exit();
});
`,
  },
  {
    name: '@redline/child-process',
    hasEngine: true,
    entry: `
import { createPool, engine, execFile } from '@redline/child-process';
execFile(process.execPath, ['--print', '"answer"'], async (error, stdout) => {
  let pool = 'runs';
  try {
    await createPool({ size: 1 }).close();
  } catch ({ code }) {
    pool = code;
  }
  const isExpected = pool === (process.env.EXTERNAL ? 'runs' : 'ERR_REDLINE_POOL_WORKER_FILE');
  console.log(JSON.stringify({ answer: isExpected ? stdout.trim() : pool, engine: engine() }));
});
`,
  },
  ...starting,
];

interface Bundle {
  readonly name: string;
  readonly file: string;
  readonly flags: readonly string[];
  readonly expected: 'native' | 'node';
  /** True if the package itself runs, outside the bundle. */
  readonly isExternal?: boolean;
}

const bundles: Bundle[] = [
  { name: 'CommonJS', file: 'out.cjs', flags: ['--format=cjs'], expected: 'native' },
  {
    name: 'ES module with @redline/* external',
    file: 'out-external.mjs',
    flags: ['--format=esm', '--external:@redline/*'],
    expected: 'native',
    isExternal: true,
  },
  { name: 'ES module', file: 'out.mjs', flags: ['--format=esm'], expected: 'node' },
];

/**
 * Proves that esbuild's bundles respond, on the engine or with the reason why not, and that an nft trace includes the addon.
 */
export async function proveBundles(options: ProofOptions): Promise<void> {
  const { folder: app, env } = await installFor(
    { os: 'linux', cpu: process.arch, libc: thisLibc() },
    options,
  );
  await proveEsbuild(app, env, join(options.tools, 'node_modules', 'esbuild', 'bin', 'esbuild'));
  const copy = join(options.folder, 'traced');
  const count = await copyTraced(app, copy, options.tools);
  expectNative(await serve(copy, [process.execPath, '--no-warnings'], env), 'What nft traced');
  say(`nft: ${count} files, on the engine`);
}

/** Bundles every package that a server imports in every format, in an app that has them installed. */
export async function proveEsbuild(
  app: string,
  env: NodeJS.ProcessEnv,
  esbuild: string,
): Promise<void> {
  for (const each of packages) {
    writeFileSync(join(app, 'entry.mjs'), each.entry);
    for (const bundle of bundles) {
      const args = ['entry.mjs', '--bundle', '--platform=node', '--log-level=warning'];
      args.push(...bundle.flags, `--outfile=${bundle.file}`);
      await run(process.execPath, [esbuild, ...args], { cwd: app });
      const { stdout } = await run(process.execPath, ['--no-warnings', bundle.file], {
        cwd: app,
        env: bundle.isExternal ? { ...env, EXTERNAL: '1' } : env,
      });
      const printed = stdout.trim();
      if (printed !== JSON.stringify(expectedOf(each, bundle))) {
        throw new ReleaseError(
          `A bundle of ${each.name} by esbuild, ${bundle.name}, printed ${printed}`,
        );
      }
      say(`esbuild, ${each.name}, ${bundle.name}: ${printed}`);
    }
  }
}

function expectedOf({ name, hasEngine }: (typeof packages)[number], { expected }: Bundle): object {
  if (!hasEngine) return { answer: 'answer' };
  const reason = `this bundle cannot load addons; mark ${name} as external`;
  const engine = expected === 'native' ? { name: 'native' } : { name: 'node', reason };
  return { answer: 'answer', engine };
}

interface Nft {
  nodeFileTrace(files: string[], options: { base: string }): Promise<{ fileList: Set<string> }>;
}

/** Copies only the files that the app may load, as found by nft. */
async function copyTraced(app: string, to: string, tools: string): Promise<number> {
  const { nodeFileTrace } = createRequire(join(tools, 'package.json'))('@vercel/nft') as Nft;
  const { fileList } = await nodeFileTrace([join(app, 'app.mjs')], { base: app });
  rmSync(to, { recursive: true, force: true });
  for (const file of fileList) {
    mkdirSync(dirname(join(to, file)), { recursive: true });
    cpSync(join(app, file), join(to, file), { recursive: true });
  }
  copyFileSync(join(app, 'package.json'), join(to, 'package.json'));
  return fileList.size;
}
