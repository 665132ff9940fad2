import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { interfaceHash, interfaceSource } from '../scripts/interface.mjs';
import { crates } from '../scripts/targets.mjs';

const root = join(import.meta.dirname, '..');
const http = {
  rust: 'crates/http_engine/src/wire.rs',
  typescript: 'packages/http/src/native/wire.ts',
};
const spawn = {
  rust: 'crates/spawn_engine/src/wire.rs',
  typescript: 'packages/child-process/src/native/wire.ts',
};
const telemetry = {
  rust: 'crates/telemetry_ring/src/wire.rs',
  typescript: 'packages/telemetry/src/native/wire.ts',
};
const all = [http, spawn, telemetry];
const copy = mkdtempSync(join(tmpdir(), 'redline-wire-'));
after(() => rmSync(copy, { recursive: true, force: true }));
for (const path of ['scripts/wire.mjs', ...all.map(({ rust }) => rust)]) {
  mkdirSync(join(copy, path, '..'), { recursive: true });
  cpSync(join(root, path), join(copy, path));
}
for (const { typescript } of all) mkdirSync(join(copy, typescript, '..'), { recursive: true });

describe('numbers that cross between an engine and JavaScript are those of its Rust file:', () => {
  for (const { rust, typescript } of all) {
    test(typescript, () => {
      writeWire();
      assert.equal(read(root, typescript), read(copy, typescript), 'run npm run wire');
      assert.match(read(copy, typescript), new RegExp(`Generated from ${rust}`));
    });
  }

  test('a number that changes there changes here', () => {
    const text = read(copy, http.rust);
    writeFileSync(join(copy, http.rust), text.replace('RAW: u32 = 1 << 4', 'RAW: u32 = 1 << 5'));
    writeWire();
    assert.match(read(copy, http.typescript), /RAW: 32,/);
    writeFileSync(join(copy, http.rust), text);
  });

  test('what cannot be read is an error, with its line', () => {
    const text = read(copy, spawn.rust);
    writeFileSync(join(copy, spawn.rust), text.replace('= 4096', '= 4095 + 1'));
    assert.throws(
      writeWire,
      /wire\.rs:\d+ must be a module, a plain number or a comment; got .*4095/,
    );
    writeFileSync(join(copy, spawn.rust), text);
  });
});

describe('an addon and its JavaScript know each other by a hash', () => {
  for (const [addon, crate] of Object.entries(crates)) {
    const source = `crates/${crate}/src/interface.rs`;
    test(`that is the same in ${source} and in the native.cjs of ${addon}`, () => {
      assert.equal(read(root, source), interfaceSource(crate), 'run npm run wire');
      const loader = read(root, `packages/${addon}/native.cjs`);
      assert.match(loader, new RegExp(`'${interfaceHash(crate)}'`), 'run npm run wire');
    });
  }
});

function writeWire(): void {
  execFileSync(process.execPath, [join(copy, 'scripts/wire.mjs')], { stdio: 'pipe' });
}

function read(folder: string, path: string): string {
  return readFileSync(join(folder, path), 'utf8');
}
