// What loads an addon, with the names that each bundler leaves in scope. `npm run release -- bundles` makes real bundles.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { commonVersion } from '../scripts/release/pack.ts';
import { targets } from '../scripts/targets.mjs';
import { addPlatform, install, type Installed, local } from './installed/install.ts';

const root = join(import.meta.dirname, '..');
const text = readFileSync(join(root, 'packages', 'http', 'native.cjs'), 'utf8').replace(
  "'use strict';",
  '',
);
const { target } = local ?? { target: targets[0]! };

/** The names of a CommonJS module in a bundle; what a bundler does not mention is undefined. */
const scopes = {
  'esbuild and Rollup, whose require knows only what is inside': '{ require: inside }',
  'webpack and Rspack, which call that of Node by another name':
    '{ require: inside, __webpack_require__: inside, __non_webpack_require__: createRequire(import.meta.url) }',
};
const withoutRequire = '{}';

async function load(
  { folder }: Installed,
  scope: string,
  ...flags: readonly string[]
): Promise<string> {
  const manifest = JSON.stringify({ version: commonVersion(root) });
  const names = 'require, __filename, __dirname, __webpack_require__, __non_webpack_require__';
  const program = `
import { createRequire } from 'node:module';
function inside(name) {
  if (name === './package.json') return ${manifest};
  throw new Error(\`\${name} is not in the bundle\`);
}
const exports = {};
(({ ${names} }) => {
${text}
})(${scope});
try {
  console.log(typeof exports.loadAddon().Port);
} catch ({ message }) {
  console.log(message);
}`;
  writeFileSync(join(folder, 'bundle.mjs'), program);
  const args = ['--no-warnings', ...flags, join(folder, 'bundle.mjs')];
  // Elsewhere: the addon is looked for beside the bundle.
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: '/' });
  return stdout.trim();
}

describe('an addon', { skip: local === undefined && 'no addon is built here' }, () => {
  for (const [bundler, scope] of Object.entries(scopes)) {
    test(`loads in a bundle of ${bundler}`, async () => {
      using app = install();
      addPlatform(app.scope, target);
      assert.equal(await load(app, scope), 'function');
    });

    test(`that is missing beside a bundle of ${bundler}: the reason says what to do`, async () => {
      using app = install();
      assert.equal(
        await load(app, scope),
        `${target.package} is not installed where this bundle runs; install it there, or mark @redline/http as external`,
      );
    });
  }

  test('loads where source maps are enabled', async () => {
    using app = install();
    addPlatform(app.scope, target);
    assert.equal(await load(app, Object.values(scopes)[0]!, '--enable-source-maps'), 'function');
  });

  test('does not load on Node before 22.12 in a bundle without a require, and the reason says so', async () => {
    using app = install();
    addPlatform(app.scope, target);
    const older = `data:text/javascript,${encodeURIComponent('delete process.getBuiltinModule')}`;
    assert.equal(
      await load(app, withoutRequire, '--import', older),
      'this bundle cannot load addons; mark @redline/http as external',
    );
  });
});
