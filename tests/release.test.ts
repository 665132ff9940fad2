import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  globSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { addonLoader } from '../scripts/addon-loader.mjs';
import { billOfMaterials } from '../scripts/release/bill-of-materials.ts';
import { checkAddon } from '../scripts/release/check-addon.ts';
import { cratesInside } from '../scripts/release/crates-inside.ts';
import { readAddon } from '../scripts/release/elf.ts';
import { visibleDeclarations } from '../scripts/release/declarations.ts';
import { licenseTexts } from '../scripts/release/license-texts.ts';
import { commonVersion, packageFolders } from '../scripts/release/pack.ts';
import { writePlatformPackage } from '../scripts/release/platform-package.ts';
import { withHeadings } from '../scripts/release/version.ts';
import { crates, targets } from '../scripts/targets.mjs';
import { local } from './installed/install.ts';

const root = join(import.meta.dirname, '..');

describe('what loads an addon is made by scripts/addon-loader.mjs:', () => {
  for (const name of Object.keys(crates)) {
    test(`packages/${name}/native.cjs`, () => {
      const written = readFileSync(join(root, 'packages', name, 'native.cjs'), 'utf8');
      assert.equal(written, addonLoader(name), 'run node scripts/addon-loader.mjs');
    });
  }
});

test('all packages have one version', () => {
  assert.match(commonVersion(root), /^\d+\.\d+\.\d+/);
});

test('npm run tarballs empties no folder with files of others', () => {
  const into = mkdtempSync(join(tmpdir(), 'redline-tarballs-'));
  try {
    writeFileSync(join(into, 'thesis.txt'), 'text');
    writeFileSync(join(into, 'redline-http-0.0.1.tgz'), '');
    const args = [join(root, 'scripts/tarballs.ts'), '--into', into];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    assert.equal(status, 2);
    assert.match(stderr, /--into \S+ holds thesis\.txt, which this command has not written/);
    assert.deepEqual(readdirSync(into).toSorted(), ['redline-http-0.0.1.tgz', 'thesis.txt']);
  } finally {
    rmSync(into, { recursive: true });
  }
});

describe('a package says where it belongs, is public, and has a manifest that can be read:', () => {
  for (const name of packageFolders(root)) {
    test(name, () => {
      const text = readFileSync(join(root, 'packages', name, 'package.json'), 'utf8');
      const { homepage, bugs, repository, publishConfig, exports } = JSON.parse(text);
      assert.ok(homepage.includes(`/packages/${name}#`), homepage);
      assert.match(bugs.url, /\/issues$/);
      assert.equal(repository.directory, `packages/${name}`);
      assert.deepEqual(publishConfig, { access: 'public' });
      assert.equal(exports['./package.json'], './package.json');
    });
  }
});

describe('a package is published with the declarations that its importers see, and no others:', () => {
  for (const name of packageFolders(root)) {
    test(name, () => {
      const folder = join(root, 'packages', name);
      const seen = visibleDeclarations(folder);
      assert.ok(seen.has('dist/index.d.ts'), [...seen].join());
      const all = globSync('dist/**/*.d.*ts', { cwd: folder });
      assert.ok(seen.size < all.length, `${seen.size} of ${all.length}`);
    });
  }
});

describe('an addon', { skip: local === undefined && 'no addon is built here' }, () => {
  const { target, addons } = local ?? { target: targets[0]!, addons: {} };
  const file = addons['http'] ?? '';

  test('says what it was built for and what it needs', () => {
    const { machine, needs, versions } = readAddon(readFileSync(file));
    assert.equal(machine, target.machine);
    assert.ok(
      needs.some((name) => name.startsWith('libc.')),
      needs.join(),
    );
    if (target.libc === 'gnu') assert.ok(versions.some((each) => /^GLIBC_2\.\d/.test(each)));
  });

  test('is refused for another processor or C library, or with a path of this machine', () => {
    const libc = target.libc === 'gnu' ? 'musl' : 'gnu';
    const other = { ...target, libc, machine: 243 } as const;
    const { complaints } = checkAddon(file, other, ['napi_', 'not in there']);
    assert.equal(complaints[0], `it is for machine ${target.machine}, not 243`);
    assert.match(
      complaints[1]!,
      libc === 'musl' ? /^it needs glibc 2\.\d+$/ : /no version of glibc/,
    );
    assert.deepEqual(complaints.slice(-1), ['it contains the path napi_']);
  });
});

test('a file that holds no addon is refused', () => {
  assert.throws(() => readAddon(Buffer.from('#!/bin/sh\n')), /not a 64-bit little-endian ELF file/);
});

describe('licences of what is inside an addon:', () => {
  const crate = { name: 'one', version: '1.0.0', license: 'MIT', authors: ['Ann'], texts: [] };

  test('they and the bill of materials are in its package', { skip: local === undefined }, (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'redline-platform-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    writePlatformPackage(folder, { root, version: '1.2.3', ...local!, crates: [crate] });
    const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
    const { files } = JSON.parse(read('package.json')) as { files: string[] };
    const packed = new Set(globSync(files, { cwd: folder }));
    assert.ok(packed.has('THIRD-PARTY-LICENSES.txt') && packed.has('sbom.cdx.json'));
    assert.match(read('THIRD-PARTY-LICENSES.txt'), /^one 1\.0\.0 by Ann: MIT$/m);
    assert.equal(JSON.parse(read('sbom.cdx.json')).components[0].name, 'one');
  });

  test('one that is not accepted is refused, with what to do', () => {
    assert.throws(
      () => licenseTexts([{ ...crate, license: 'GPL-3.0-only' }]),
      /one 1\.0\.0 is under GPL-3\.0-only; accepted are MIT, .* Replace the crate/,
    );
    assert.throws(() => licenseTexts([{ ...crate, license: 'MIT AND GPL-3.0-only' }]));
  });

  test('each crate comes with its text, or that of MIT with its authors', () => {
    const text = licenseTexts([crate, { ...crate, name: 'two', texts: ['The text of two.\n'] }]);
    assert.match(text, /one 1\.0\.0 by Ann: MIT\n\nCopyright \(c\) Ann\n\nPermission is hereby/);
    assert.match(text, /two 1\.0\.0 by Ann: MIT\n\nThe text of two\.\n$/);
  });

  const hasCargo = spawnSync('cargo', ['--version']).status === 0;
  test('all crates inside have an accepted one', { skip: !hasCargo && 'no cargo' }, () => {
    const inside = cratesInside(root);
    const names = inside.map(({ name }) => name);
    assert.ok(names.includes('napi') && names.includes('httparse'), names.join());
    assert.ok(!names.includes('http_engine') && !names.includes('napi-derive'), names.join());
    assert.match(licenseTexts(inside), /^httparse \d\S+ by .*: MIT OR Apache-2\.0$/m);
  });

  test('a bill of materials lists them, and is the same for the same sources', () => {
    const subject = { name: '@redline/native-linux-x64-gnu', version: '1.2.3' };
    const text = billOfMaterials(subject, [crate]);
    const { bomFormat, serialNumber, metadata, components } = JSON.parse(text);
    assert.equal(bomFormat, 'CycloneDX');
    assert.match(
      serialNumber,
      /^urn:uuid:[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/,
    );
    assert.equal(metadata.component.purl, 'pkg:npm/%40redline/native-linux-x64-gnu@1.2.3');
    assert.equal(components[0].purl, 'pkg:cargo/one@1.0.0');
    assert.equal(billOfMaterials(subject, [crate]), text);
  });
});

describe('a changelog', () => {
  test('gets its title and the heading of its version, once', () => {
    const text = withHeadings('# Unreleased\n\n- One.\n', '@redline/http', '0.1.0');
    assert.equal(text, '# @redline/http\n\n## 0.1.0\n\n- One.\n');
    assert.equal(withHeadings(text, '@redline/http', '0.2.0'), text);
  });

  test('is written by changesets from lines as they are', async () => {
    const { default: format } = await import(join(root, '.changeset', 'changelog.cjs'));
    const line = await format.getReleaseLine({ summary: 'One line.\n\nAnd more of it.\n' });
    assert.equal(line, '- One line.\n\n  And more of it.');
    assert.equal(await format.getDependencyReleaseLine(), '');
  });

  test('and a version are for every package that is published', () => {
    const { fixed } = JSON.parse(readFileSync(join(root, '.changeset', 'config.json'), 'utf8'));
    for (const name of fixed[0] as string[]) {
      assert.ok(existsSync(join(root, 'packages', name.replace('@redline/', ''))), name);
    }
  });
});
