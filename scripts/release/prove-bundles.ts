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

const entry = `
import { createServer, engine } from '@redline/http';
const server = createServer((request, response) => response.end('answer'));
server.listen(0, '127.0.0.1', async () => {
  const response = await fetch(\`http://127.0.0.1:\${server.address().port}/\`);
  console.log(JSON.stringify({ answer: await response.text(), engine: engine() }));
  process.exit();
});
`;

interface Bundle {
  readonly name: string;
  readonly file: string;
  readonly flags: readonly string[];
  readonly expected: object;
}

const native = { name: 'native' };
const bundles: Bundle[] = [
  { name: 'CommonJS', file: 'out.cjs', flags: ['--format=cjs'], expected: native },
  {
    name: 'ES module with @redline/* external',
    file: 'out-external.mjs',
    flags: ['--format=esm', '--external:@redline/*'],
    expected: native,
  },
  {
    name: 'ES module',
    file: 'out.mjs',
    flags: ['--format=esm'],
    expected: {
      name: 'node',
      reason: 'this bundle cannot load addons; mark @redline/http as external',
    },
  },
];

/** esbuild's bundles answer, on the engine or with a sentence that says how; a trace by nft holds the addon. */
export async function proveBundles(options: ProofOptions): Promise<void> {
  const { folder: app, env } = await installFor(
    { os: 'linux', cpu: process.arch, libc: thisLibc() },
    options,
  );
  writeFileSync(join(app, 'server.mjs'), entry);
  const esbuild = join(options.tools, 'node_modules', 'esbuild', 'bin', 'esbuild');
  for (const { name, file, flags, expected } of bundles) {
    const args = ['server.mjs', '--bundle', '--platform=node', '--log-level=warning', ...flags];
    await run(process.execPath, [esbuild, ...args, `--outfile=${file}`], { cwd: app });
    const { stdout } = await run(process.execPath, ['--no-warnings', file], { cwd: app, env });
    if (stdout.trim() !== JSON.stringify({ answer: 'answer', engine: expected })) {
      throw new ReleaseError(`A bundle of esbuild, ${name}, printed ${stdout}`);
    }
    say(`esbuild, ${name}: ${stdout.trim()}`);
  }
  const copy = join(options.folder, 'traced');
  const count = await copyTraced(app, copy, options.tools);
  expectNative(await serve(copy, [process.execPath, '--no-warnings'], env), 'What nft traced');
  say(`nft: ${count} files, on the engine`);
}

interface Nft {
  nodeFileTrace(files: string[], options: { base: string }): Promise<{ fileList: Set<string> }>;
}

/** Copies only what the app may load, as nft finds it. */
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
