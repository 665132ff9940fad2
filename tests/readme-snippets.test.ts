// What a reader copies out of a README must compile: every TypeScript block that imports one of the packages.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '..');
// Inside the repository, where node_modules are found.
const folder = join(root, 'redline-out', 'snippets');

const compilerOptions = {
  target: 'es2023',
  lib: ['es2024', 'dom'],
  module: 'nodenext',
  types: ['node'],
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
};

test('every snippet of a README that imports a package compiles', () => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  let count = 0;
  for (const file of globSync(['README.md', 'packages/*/README.md'], { cwd: root })) {
    const text = readFileSync(join(root, file), 'utf8');
    for (const [, code] of text.matchAll(/```ts\n([^]*?)```/g)) {
      if (!/from ['"]@redline\//.test(code!)) continue;
      count++;
      const name = `${file.replaceAll('/', '-')}-${count}.ts`;
      // A snippet without exports would share its names with the others.
      writeFileSync(join(folder, name), `${code}\nexport {};\n`);
    }
  }
  assert.ok(count > 15, `only ${count} snippets`);
  // What the snippets import from the reader's own app.
  writeFileSync(join(folder, 'app.module.ts'), 'export class AppModule {}\n');
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  const compiler = join(root, 'node_modules/.bin/tsc');
  const { stdout } = spawnSync(compiler, ['-p', relative(root, folder)], {
    cwd: root,
    encoding: 'utf8',
  });
  assert.equal(stdout, '');
});
