import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { readApp } from '../../src/doctor/app/read-app.ts';
import { examine, type Examined } from '../../src/doctor/examine.ts';
import { edited } from '../../src/doctor/edits.ts';
import { SourceFile } from '../../src/doctor/syntax/source-file.ts';
import { dataClean, dataMistakes } from './data-mistakes.ts';
import { cleanRespelled, respelled } from './other-spellings.ts';
import { clean, planted, type SmallApp } from './small-apps.ts';
import { cleanRegexps, slowRegexps } from './slow-regexps.ts';
import { thirdClean, thirdSpellings } from './third-spellings.ts';

const mistakes = { ...planted, ...respelled, ...thirdSpellings, ...dataMistakes, ...slowRegexps };
const good = { ...clean, ...cleanRespelled, ...thirdClean, ...dataClean, ...cleanRegexps };

function examined(t: TestContext, { files, start }: SmallApp): Examined[] {
  const folder = mkdtempSync(join(tmpdir(), 'redline-doctor-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return examine(readApp(folder, start && { command: start, env: {} }));
}

/** `file:line` of the arrow. */
function markedPlace(files: Record<string, string>): string | undefined {
  for (const [name, text] of Object.entries(files)) {
    const line = text.split('\n').findIndex((each) => each.endsWith('// <-'));
    if (line >= 0) return `${name}:${line + 1}`;
  }
  return undefined;
}

describe('redline doctor finds', () => {
  for (const [name, app] of Object.entries(mistakes)) {
    test(`${name}, at its line and nothing beside it`, (t) => {
      const found = examined(t, app).map(({ finding }) => finding);
      const above = found.filter(({ sure }) => sure !== 'hint');
      const place = app.at ?? markedPlace(app.files);
      assert.deepEqual(
        above.map(({ rule, file, line }) => `${rule} ${file}:${line}`).toSorted(),
        [app.rule, ...(app.also === undefined ? [] : [app.also])]
          .map((rule) => `${rule} ${place}`)
          .toSorted(),
      );
    });
  }

  test('nothing in code that can no longer be parsed once it is changed', (t) => {
    for (const app of Object.values(mistakes)) {
      for (const { finding, edits } of examined(t, app)) {
        for (const [path, own] of Map.groupBy(edits, ({ file }) => file.path)) {
          const [{ file }] = own as [(typeof own)[0]];
          const text = edited(file.text, own);
          assert.notEqual(text, file.text, finding.rule);
          if (/\.[mc]?[jt]s$/.test(path)) assert.ok(SourceFile.parse(path, file.name, text), text);
          if (path.endsWith('.json')) JSON.parse(text);
        }
      }
    }
  });
});

test('redline doctor reads what a command runs, where it was written', (t) => {
  const server = "import http from 'node:http';\nhttp.createServer().listen(3000);\n";
  const files = {
    'package.json': '{}',
    'src/main.ts': server,
    'src/other.ts': "import http from 'node:http';\nnew http.Agent({});\n",
    'dist/main.js': server,
  };
  const found = (start?: string[]): string[] =>
    examined(t, { files, ...(start === undefined ? {} : { start }) }).map(
      ({ finding: { file, rule } }) => `${file} ${rule}`,
    );
  assert.deepEqual(found(['node', 'dist/main.js']), ['src/main.ts node-http']);
  assert.deepEqual(found(), ['src/other.ts agent-without-keep-alive', 'src/main.ts node-http']);
});

describe('redline doctor finds nothing above a hint in', () => {
  for (const [name, app] of Object.entries(good)) {
    test(name, (t) => {
      const above = examined(t, app)
        .map(({ finding }) => finding)
        .filter(({ sure }) => sure !== 'hint');
      assert.deepEqual(
        above.map(({ rule, file, line }) => `${rule} ${file}:${line}`),
        [],
      );
    });
  }
});
