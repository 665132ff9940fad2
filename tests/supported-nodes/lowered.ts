import { spawnSync } from 'node:child_process';
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A copy of a workspace in which the files have the names they have, and nothing newer than ES2022: what a test runs is found
 * by its name, as `entry.ts` of a worker is.
 */
export function lowered(root: string, workspace: string): Disposable & { folder: string } {
  const folder = mkdtempSync(join(tmpdir(), 'lowered-'));
  const copy = join(folder, workspace);
  cpSync(join(root, workspace), copy, { recursive: true });
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
  linkModules(root, folder, workspace);

  const output = join(folder, 'output');
  const project = join(folder, 'tsconfig.json');
  const compilerOptions = {
    target: 'es2022',
    noCheck: true,
    composite: false,
    declaration: false,
    declarationMap: false,
    isolatedDeclarations: false,
    sourceMap: false,
    typeRoots: [join(root, 'node_modules/@types')],
    rootDir: folder,
    outDir: output,
  };
  writeFileSync(
    project,
    JSON.stringify({
      extends: join(root, 'tsconfig.base.json'),
      compilerOptions,
      include: [join(workspace, 'src'), join(workspace, 'test')],
    }),
  );
  const { status, stdout } = spawnSync('tsc', ['-p', project], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`tsc ends with ${status}\n${stdout}`);

  for (const file of globSync('**/*.js', { cwd: join(output, workspace) })) {
    const text = readFileSync(join(output, workspace, file), 'utf8');
    const named = text.replaceAll(/((?:from|import\(?) ?')(\.[^']*)\.js'/g, "$1$2.ts'");
    writeFileSync(join(copy, file.replace(/\.js$/, '.ts')), named);
  }
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Those of the root, but for the workspace itself: that one is the copy. */
function linkModules(root: string, folder: string, workspace: string): void {
  const scope = 'node_modules/@redline';
  mkdirSync(join(folder, scope), { recursive: true });
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name !== '@redline') {
      symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
    }
  }
  const own = workspace.replace('packages/', '');
  for (const name of readdirSync(join(root, scope))) {
    const target = name === own ? join(folder, workspace) : join(root, scope, name);
    symlinkSync(target, join(folder, scope, name));
  }
}
