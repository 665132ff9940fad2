import { execFile } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type Bundle, type Bundler, bundlersIn } from './bundle-with.ts';
import { expectNative, serve } from './proof-app.ts';
import { installFor, type ProofOptions } from './prove-install.ts';
import { obtainTools } from './registry.ts';
import { ReleaseError, say } from './say.ts';
import { thisLibc } from './this-libc.ts';

const run = promisify(execFile);

/** A program in bundlers/programs. It prints what it did as one line of JSON, and which engine did it. */
interface Program {
  readonly name: string;
  readonly result: string;
  /** The package whose engine it names. */
  readonly engineOf?: string;
  readonly hasCommonJs?: boolean;
  /** Further output on the engine, on Node, and with the package outside of the bundle. */
  readonly besides?: { readonly native: string; readonly node: string; readonly external?: string };
}

const noThreads =
  'Thread 0 did not start data:text/javascript,: this bundle cannot start threads; mark @redline/http as external';
const noWorkers =
  'The pool cannot find the program of its workers: the package is in a bundle; mark @redline/child-process as external.';

const programs: readonly Program[] = [
  {
    name: 'http',
    engineOf: '@redline/http',
    result: 'a response',
    besides: { native: noThreads, node: noThreads, external: 'threads run' },
  },
  {
    name: 'http-register',
    engineOf: '@redline/http',
    result: 'a response',
    besides: { native: 'a Server of node:http', node: 'a Server of node:http' },
  },
  {
    name: 'http-pino',
    engineOf: '@redline/http',
    result: 'a response',
    hasCommonJs: true,
    besides: { native: 'lines: object', node: 'lines: object' },
  },
  {
    name: 'child-process',
    engineOf: '@redline/child-process',
    result: 'a child, another, a message',
    besides: { native: noWorkers, node: noWorkers, external: 'a pool runs' },
  },
  {
    name: 'child-process-register',
    engineOf: '@redline/child-process',
    result: 'a child',
    besides: { native: "the engine's", node: "Node's" },
  },
  {
    name: 'response-cache',
    result: '{"made":1},{"made":1},{"made":2},{"made":2}',
    hasCommonJs: true,
  },
  { name: 'defer', result: 'of Express,of Fastify; journal: true', hasCommonJs: true },
  {
    name: 'nest',
    engineOf: '@redline/http',
    result: '{"made":1},{"made":1},{"made":2},{"made":2}; response 1,response 2; 4 lines',
    hasCommonJs: true,
  },
];

/**
 * Proves that every package works in bundles of every bundler: on the engine where the addon is installed, and on Node with
 * the reason where the bundle is alone. An nft trace includes the addon.
 */
export async function proveBundles(options: ProofOptions): Promise<void> {
  const tools = obtainTools(options.root, 'bundlers');
  const { folder: app, env } = await installFor(
    { os: 'linux', cpu: process.arch, libc: thisLibc() },
    options,
    { '@nestjs/platform-express': '^12.5.0', express: '^5.3.0' },
  );
  const wrong: string[] = [];
  for (const [name, bundler] of Object.entries(bundlersIn(tools))) {
    for (const program of programs) {
      const source = join(tools, 'programs', `${program.name}.mjs`);
      copyFileSync(source, join(app, `${program.name}.mjs`));
      for (const file of ['bundle.mjs', 'bundle.cjs']) {
        try {
          await proveBundle(bundler, program, { app, file, env });
        } catch (error) {
          // It may show a line of a minified bundle.
          const message = (error as Error).message.slice(0, 1_000);
          wrong.push(`${name}, ${program.name}, ${file}: ${message}`);
        }
      }
    }
    say(`${name}: ${programs.length} programs as ES modules and as CommonJS`);
  }
  if (wrong.length > 0) throw new ReleaseError(`Not as expected:\n${wrong.join('\n')}`);
  const copy = join(options.folder, 'traced');
  const count = await copyTraced(app, copy, tools);
  expectNative(await serve(copy, [process.execPath, '--no-warnings'], env), 'What nft traced');
  say(`nft: ${count} files, on the engine`);
}

interface Place {
  readonly app: string;
  readonly file: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Makes a bundle and runs it in the app, alone elsewhere, and without the packages of this repository inside. */
async function proveBundle(
  bundler: Bundler,
  program: Program,
  { app, file, env }: Place,
): Promise<void> {
  const into = join(app, 'bundle');
  const alone = mkdtempSync(join(tmpdir(), 'redline-bundle-'));
  const bundle: Bundle = {
    app,
    program: `${program.name}.mjs`,
    file: join(into, file),
    hasCommonJs: program.hasCommonJs === true,
    isExternal: false,
  };
  try {
    rmSync(into, { recursive: true, force: true });
    const warnings = await bundler(bundle);
    if (warnings.length > 0) throw new Error(warnings.join('\n'));
    cpSync(into, alone, { recursive: true });
    await expect(join(into, file), env, expected(program, 'native'));
    await expect(join(alone, file), env, expected(program, 'node'));
    if (program.besides?.external === undefined) return;
    await bundler({ ...bundle, isExternal: true });
    await expect(join(into, file), env, expected(program, 'external'));
  } finally {
    rmSync(alone, { recursive: true, force: true });
  }
}

async function expect(file: string, env: NodeJS.ProcessEnv, wanted: object): Promise<void> {
  const { stdout } = await run(process.execPath, ['--no-warnings', file], {
    cwd: dirname(file),
    env,
    timeout: 120_000,
  });
  // Loggers write lines before.
  const printed = stdout.trim().split('\n').at(-1);
  if (printed !== JSON.stringify(wanted)) {
    throw new Error(`${file} printed ${printed} instead of ${JSON.stringify(wanted)}`);
  }
}

/** Returns what a program prints on the engine, on Node, or outside of the bundle, where the engine serves as well. */
function expected(
  { result, besides, engineOf }: Program,
  where: 'native' | 'node' | 'external',
): object {
  const libc = thisLibc() === 'glibc' ? 'gnu' : 'musl';
  const addon = `@redline/native-linux-${process.arch}-${libc}`;
  const reason = `${addon} is not installed where this bundle runs; install it there, or mark ${engineOf} as external`;
  const engine = where === 'node' ? { name: 'node', reason } : { name: 'native' };
  return {
    result,
    ...(besides !== undefined && { besides: besides[where] }),
    ...(engineOf !== undefined && { engine }),
  };
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
