import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { SourceMaps } from '../../src/profile/source-maps.ts';

test('a position leads back to its source, by a map in a file or within the code', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'redline-maps-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  // Line 2 column 1 of the code is line 5 column 3 of the source.
  const map = JSON.stringify({
    version: 3,
    sources: ['src/app.ts'],
    names: [],
    mappings: ';AAIE',
  });
  writeFileSync(join(folder, 'app.js.map'), map);
  writeFileSync(join(folder, 'app.js'), '"use strict";\nf();\n//# sourceMappingURL=app.js.map\n');
  const inline = `data:application/json;base64,${Buffer.from(map).toString('base64')}`;
  writeFileSync(join(folder, 'in.js'), `"use strict";\nf();\n//# sourceMappingURL=${inline}\n`);
  writeFileSync(join(folder, 'plain.js'), 'f();\n');
  writeFileSync(join(folder, 'lost.js'), 'f();\n//# sourceMappingURL=gone.map\n');
  const maps = new SourceMaps();
  const source = { url: pathToFileURL(join(folder, 'src/app.ts')).href, line: 5, column: 3 };
  const at = (name: string): object => ({ url: join(folder, name), line: 2, column: 1 });
  assert.deepEqual(maps.original(at('app.js') as never), source);
  assert.deepEqual(maps.original(at('in.js') as never), source);
  for (const name of ['plain.js', 'lost.js', 'absent.js']) {
    assert.deepEqual(maps.original(at(name) as never), at(name));
  }
});

test('a source is where sourceRoot says, and code that the compiler has added is itself', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'redline-maps-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  // Line 2 column 5 is line 1 column 1 of the source; what stands before it, and line 3, have no source.
  const map = {
    version: 3,
    sourceRoot: 'src',
    sources: ['app.ts'],
    names: [],
    mappings: ';A,IAAA',
  };
  writeFileSync(join(folder, 'app.js.map'), JSON.stringify(map));
  const text = '"use strict";\nadd(f());\nadd();\n//# sourceMappingURL=app.js.map\n';
  writeFileSync(join(folder, 'app.js'), text);
  const maps = new SourceMaps();
  const at = (line: number, column: number) => ({ url: join(folder, 'app.js'), line, column });
  const source = { url: pathToFileURL(join(folder, 'src/app.ts')).href, line: 1, column: 1 };
  assert.deepEqual(maps.original(at(2, 5)), source);
  assert.deepEqual(maps.original(at(2, 6)), source);
  for (const own of [at(1, 1), at(2, 1), at(3, 1)]) assert.deepEqual(maps.original(own), own);
});

test('the map of a package that leads out of it is not followed: the frame is the package’s', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'redline-maps-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const lib = join(folder, 'node_modules/@acme/orm/lib');
  mkdirSync(lib, { recursive: true });
  const write = (name: string, source: string): object => {
    const map = { version: 3, sources: [source], names: [], mappings: ';AAIE' };
    writeFileSync(join(lib, `${name}.map`), JSON.stringify(map));
    writeFileSync(join(lib, name), `"use strict";\nf();\n//# sourceMappingURL=${name}.map\n`);
    return { url: join(lib, name), line: 2, column: 1 };
  };
  const maps = new SourceMaps();
  const outside = write('query.js', '../../../../src/query.ts');
  assert.deepEqual(maps.original(outside as never), outside);
  const inside = maps.original(write('model.js', '../src/model.ts') as never);
  assert.equal(inside.url, pathToFileURL(join(lib, '../src/model.ts')).href);
});
