import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

// ESLint takes a second to load, so the tests of all rules share a process; each file runs alone as well.
const folder = join(import.meta.dirname, '../src/rules');
const files = globSync('*/rule.test.ts', { cwd: folder }).toSorted();
assert.ok(files.length > 0);
for (const file of files) await import(pathToFileURL(join(folder, file)).href);
