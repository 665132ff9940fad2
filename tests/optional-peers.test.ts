// A peer is optional where TypeScript does without it, too: an app that checks the types of its libraries (skipLibCheck off)
// compiles without every peer that it does not use.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';

const root = join(import.meta.dirname, '..');
const packages = readdirSync(join(root, 'packages'));

interface Manifest {
  readonly name: string;
  readonly exports: Readonly<Record<string, unknown>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/* Entries that are for one of the peers, and have its types in theirs. */
const ofPeers: Readonly<Record<string, string>> = {
  '@redline/response-cache/fastify': 'fastify',
  '@redline/defer/fastify': 'fastify',
  '@redline/defer/page': 'fastify',
  '@redline/defer/opentelemetry': '@opentelemetry/api',
  '@redline/defer/postgres-inbox': 'pg',
  '@redline/http/pino': 'pino',
};

const options = {
  module: 'nodenext',
  target: 'es2023',
  lib: ['es2023', 'esnext.disposable'],
  strict: true,
  skipLibCheck: false,
  noEmit: true,
  // As Nest has it.
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
};

for (const folder of packages) {
  const manifest = readManifest(folder);
  const optional = Object.entries(manifest.peerDependenciesMeta ?? {})
    .filter(([, meta]) => meta.optional === true)
    .map(([peer]) => peer);
  describe(`the types of ${manifest.name}`, { concurrency: 1 }, () => {
    // Without the types of Node there is nothing that a package for Node could be compiled against.
    const others = optional.filter((peer) => peer !== '@types/node');
    test(`need none of ${others.join(', ') || 'no peer'}`, async () => {
      assert.equal(await errorsWithout(others, folder, manifest), '');
    });
    // What stands in for one that is absent must not break one that is there.
    if (others.length > 1 && folder === 'nest') {
      for (const peer of others) {
        test(`need no ${peer}`, async () => {
          assert.equal(await errorsWithout([peer], folder, manifest), '');
        });
      }
    }
    if (optional.includes('@types/node')) {
      test('ask for @types/node alone where that is absent', async () => {
        const errors = await errorsWithout(optional, folder, manifest);
        for (const line of errors.split('\n').filter((each) => each.includes('error TS')))
          assert.match(
            line,
            /node|Buffer|NodeJS|AbortSignal|EventTarget|URL|Async|Disposable/,
            line,
          );
      });
    }
  });
}

/** The errors in the types of Redline of an app that has installed `folder` without `absent`. */
async function errorsWithout(
  absent: readonly string[],
  folder: string,
  manifest: Manifest,
): Promise<string> {
  const app = mkdtempSync(join(tmpdir(), 'redline-peers-'));
  try {
    installTypes(app, folder, new Set(absent));
    // An app that imports such an entry has what it is for.
    for (const [entry, peer] of Object.entries(ofPeers))
      if (entry.startsWith(`${manifest.name}/`))
        link(join(app, 'node_modules'), peer, new Set(absent));
    const entries = Object.keys(manifest.exports)
      .filter((path) => !path.includes('*') && !path.endsWith('.json'))
      .map((path) => join(manifest.name, path))
      .filter((entry) => !absent.includes(ofPeers[entry] ?? ''));
    writeFileSync(
      join(app, 'app.ts'),
      entries.map((entry, index) => `export * as entry${index} from '${entry}';\n`).join(''),
    );
    const types = absent.includes('@types/node') ? [] : ['node'];
    writeFileSync(
      join(app, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: { ...options, types }, files: ['app.ts'] }),
    );
    writeFileSync(join(app, 'package.json'), '{ "type": "module" }');
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    const output = await new Promise<string>((resolve) => {
      execFile(process.execPath, [tsc, '-p', app], { cwd: app }, (_error, stdout) =>
        resolve(stdout),
      );
    });
    return output
      .split('\n')
      .filter((line) => /^(?:node_modules\/@redline\/|app\.ts)/.test(line))
      .join('\n');
  } finally {
    rmSync(app, { recursive: true, force: true });
  }
}

/** Redline's packages are copied: TypeScript looks for a dependency beside the file a link leads to. */
function installTypes(app: string, folder: string, absent: ReadonlySet<string>): void {
  const modules = join(app, 'node_modules');
  const pending = [folder];
  const done = new Set<string>();
  link(modules, '@types/node', absent);
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (done.has(next)) continue;
    done.add(next);
    const { name, dependencies = {}, peerDependencies = {} } = readManifest(next);
    const to = join(modules, name);
    for (const part of ['dist', 'native.cjs', 'native.d.cts', 'package.json']) {
      if (!existsSync(join(root, 'packages', next, part))) continue;
      cpSync(join(root, 'packages', next, part), join(to, part), {
        recursive: true,
        filter: (path) => !/\.(?:map|js|node)$/.test(path),
      });
    }
    for (const each of [...Object.keys(dependencies), ...Object.keys(peerDependencies)]) {
      if (each.startsWith('@redline/')) pending.push(each.slice('@redline/'.length));
      else link(modules, each, absent);
    }
  }
}

function link(modules: string, name: string, absent: ReadonlySet<string>): void {
  if (absent.has(name)) return;
  for (const each of [name, `@types/${name.replace(/^@([^/]+)\//, '$1__')}`]) {
    const from = join(root, 'node_modules', each);
    const to = join(modules, each);
    mkdirSync(dirname(to), { recursive: true });
    try {
      readdirSync(from);
      symlinkSync(from, to, 'dir');
    } catch {
      // It is not here, as types of a package that has its own, or it is linked already.
    }
  }
}

function readManifest(folder: string): Manifest {
  return JSON.parse(
    readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8'),
  ) as Manifest;
}
