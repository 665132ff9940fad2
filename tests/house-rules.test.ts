import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';

const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'redline-lint-'));
after(() => rmSync(folder, { recursive: true, force: true }));
cpSync(join(root, '.oxlintrc.json'), join(folder, '.oxlintrc.json'));

describe('imports run down only:', () => {
  const cases: [from: string, imported: string, allowed: boolean][] = [
    ['packages/nest/src/a.ts', '@redline/response-cache', true],
    ['packages/nest/src/a.ts', '@redline/http', true],
    ['packages/nest/src/a.ts', '@redline/defer', true],
    ['packages/nest/src/a.ts', '@redline/defer/fastify', true],
    ['packages/nest/src/a.ts', '@redline/defer/dist/fastify.js', false],
    ['packages/nest/src/a.ts', '@redline/lab', false],
    ['packages/defer/src/a.ts', '@redline/response-cache', false],
    ['packages/defer/src/a.ts', 'node:fs', true],
    ['packages/nest/src/a.ts', '@redline/response-cache/dist/seal.js', false],
    ['packages/response-cache/src/a.ts', '@redline/nest', false],
    ['packages/response-cache/src/a.ts', 'node:fs', true],
    ['packages/lab/src/a.ts', '@redline/nest', false],
    ['packages/lab/src/a.ts', '@redline/eslint-plugin', true],
    ['packages/lab/src/a.ts', '@redline/eslint-plugin/dist/index.js', false],
    ['packages/eslint-plugin/src/a.ts', '@redline/lab', false],
    ['packages/child-process/src/a.ts', '@redline/nest', false],
    ['packages/child-process/src/a.ts', 'node:child_process', true],
    ['packages/http/src/a.ts', '@redline/nest', false],
    ['packages/http/src/a.ts', 'node:http', true],
    ['packages/lab/src/report/a.ts', '@redline/services', false],
    ['examples/cached-api/src/a.ts', '@redline/nest', true],
    ['examples/cached-api/src/a.ts', '../../../packages/nest/src/index.ts', false],
    ['examples/deferred-work/src/a.ts', '@redline/defer/sinks/bullmq', true],
    ['examples/deferred-work/src/a.ts', '@redline/defer/dist/scope.js', false],
    ['tests/a.ts', '@redline/lab', true],
    ['tests/a.ts', '../packages/lab/src/cli.ts', false],
    ['benchmarks/a.ts', '@redline/lab/dist/cli.js', false],
  ];
  for (const [from, imported, allowed] of cases) {
    test(`${from} ${allowed ? 'may' : 'may not'} import ${imported}`, () => {
      const file = join(folder, from);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, `import { thing } from '${imported}';\nthing();\n`);
      const { stdout, status } = spawnSync('oxlint', [from], { cwd: folder, encoding: 'utf8' });
      rmSync(file);
      assert.equal(/no-restricted-imports/.test(stdout), !allowed, stdout);
      assert.equal(status, allowed ? 0 : 1, stdout);
    });
  }

  test('no two files know each other, not even by type', () => {
    const lint = (second: string): string => {
      const folderOfBoth = join(folder, 'packages/lab/src');
      mkdirSync(folderOfBoth, { recursive: true });
      const first =
        "import { b } from './b.ts';\nexport interface A {}\nexport const a = () => b;\n";
      writeFileSync(join(folderOfBoth, 'a.ts'), first);
      writeFileSync(join(folderOfBoth, 'b.ts'), second);
      const { stdout } = spawnSync('oxlint', ['packages/lab'], { cwd: folder, encoding: 'utf8' });
      rmSync(folderOfBoth, { recursive: true });
      return stdout;
    };
    assert.match(lint("import { a } from './a.ts';\nexport const b = () => a;\n"), /no-cycle/);
    assert.match(
      lint("import type { A } from './a.ts';\nexport const b = (a: A) => a;\n"),
      /no-cycle/,
    );
    assert.doesNotMatch(lint('export const b = 1;\n'), /no-cycle/);
  });
});
