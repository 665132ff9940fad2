import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

const root = join(import.meta.dirname, '..');
const code = /ERR_REDLINE_[A-Z]+(?:_[A-Z]+)*\b(?!_)/g;
/** Where a table of codes has a row for each: the code in its first cell, what it means in the next. */
const row = /^\|\s*`(ERR_REDLINE_[A-Z_]+)`\s*\|\s*(\S.*?)\s*\|/gm;

const sources = tracked('packages/*/src/**', 'packages/*/bin/**').filter((file) =>
  /\.[cm]?ts$/.test(file),
);
const thrown = new Set(sources.flatMap((file) => read(file).match(code) ?? []));
const rows = tracked('packages/*/README.md', 'docs/guide/*.md').flatMap((file) =>
  [...read(file).matchAll(row)].map(([, name, meaning]) => ({ file, name: name!, meaning })),
);
const documented = new Set(rows.map(({ name }) => name));
/** Those that have codes of ours. */
const errorFiles = sources.filter(
  (file) => file.endsWith('/errors.ts') && read(file).includes('ERR_REDLINE_'),
);

describe('error codes:', () => {
  test('each has its row in a README or a guide', () => {
    assert.ok(thrown.size > 40, `only ${thrown.size} codes were found in the sources`);
    assert.deepEqual(
      [...thrown].filter((each) => !documented.has(each)),
      [],
    );
  });

  test('no row is about a code that nothing throws', () => {
    assert.deepEqual(
      [...documented].filter((each) => !thrown.has(each)),
      [],
    );
  });

  test('each is declared once, with the meaning that every row about it has', async () => {
    const docs = new Map<string, string>();
    for (const file of errorFiles) {
      for (const [name, meaning] of Object.entries((await recipeOf(file)).docs)) {
        assert.ok(!docs.has(name), `${name} is declared twice`);
        docs.set(name, meaning);
      }
    }
    assert.deepEqual([...docs.keys()].sort(), [...thrown].sort());
    for (const { file, name, meaning } of rows) assert.equal(meaning, docs.get(name), file);
  });
});

describe('errors follow one recipe:', () => {
  test('they are declared in errors.ts, and only thrown elsewhere', () => {
    assert.ok(errorFiles.length > 8, errorFiles.join());
    for (const file of sources.filter((each) => !errorFiles.includes(each))) {
      assert.doesNotMatch(read(file), /\bcode: 'ERR_REDLINE_/, file);
    }
  });

  for (const file of errorFiles) {
    test(`${file}: a map of meanings, a class with code, name and cause`, async () => {
      const { docs, Class } = await recipeOf(file);
      const [first] = Object.keys(docs);
      const cause = new Error('why');
      const error = new Class(first!, 'what', { cause });
      assert.ok(error instanceof Error);
      assert.equal(error.name, Class.name);
      assert.equal((error as NodeJS.ErrnoException).code, first);
      assert.deepEqual([error.message, error.cause], ['what', cause]);
      assert.match(read(file), /export type \w+ErrorCode = keyof typeof \w+ErrorDocs;/);
    });
  }
});

type ErrorClass = new (code: string, message: string, options?: ErrorOptions) => Error;

async function recipeOf(
  file: string,
): Promise<{ docs: Readonly<Record<string, string>>; Class: ErrorClass }> {
  const exported = (await import(join(root, file))) as Record<string, unknown>;
  const named = (pattern: RegExp): unknown[] =>
    Object.entries(exported).flatMap(([name, value]) => (pattern.test(name) ? [value] : []));
  const docs = named(/^[a-z]\w+ErrorDocs$/);
  const classes = named(/^[A-Z]\w+Error$/);
  assert.deepEqual([docs.length, classes.length], [1, 1], file);
  return { docs: docs[0] as Readonly<Record<string, string>>, Class: classes[0] as ErrorClass };
}

function tracked(...paths: string[]): string[] {
  return execFileSync('git', ['ls-files', ...paths], { cwd: root, encoding: 'utf8' })
    .trim()
    .split('\n');
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}
