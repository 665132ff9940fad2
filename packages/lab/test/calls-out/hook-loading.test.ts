// cspell:ignore cmap
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire, registerHooks } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { hookDrivers } from '../../src/calls-out/preload/patches.ts';
import { installRecorder } from '../../src/calls-out/preload/install.ts';

const app = await mkdtemp(join(tmpdir(), 'redline-hooks-'));
after(() => rm(app, { recursive: true, force: true }));
const require = createRequire(import.meta.url);

// An earlier hook, as of a compiler, which may return bytes.
registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.includes('/bytes/')) return loaded;
    const source = 'module.exports = { Connection: class { command() { return 1; } } };';
    return { format: 'commonjs', source: new TextEncoder().encode(source), shortCircuit: true };
  },
});
installRecorder();
hookDrivers();

async function driver(path: string, source: string): Promise<string> {
  const file = join(app, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, source);
  return file;
}

/** True for a method that is wrapped. */
function isWrapped(method: unknown): boolean {
  return String(method).includes('recorder');
}

test('a driver loads whatever its file exports', async () => {
  for (const [path, source] of [
    ['a/node_modules/mongodb/lib/cmap/connection.js', 'exports.Other = 1; exports = undefined;'],
    ['b/node_modules/mongodb/lib/cmap/connection.js', 'module.exports = undefined;'],
    ['c/node_modules/pg/lib/client.js', 'module.exports = null;'],
    ['d/node_modules/mysql2/lib/connection.js', 'module.exports = {};'],
    ['e/node_modules/ioredis/built/Redis.js', 'module.exports = 1;'],
    ['f/node_modules/@redis/client/dist/lib/client/commands-queue.js', 'exports.default = null;'],
    ['g/node_modules/better-sqlite3/lib/methods/wrappers.js', 'module.exports = undefined;'],
  ] as const) {
    const file = await driver(path, source);
    assert.doesNotThrow(() => void require(file), path);
  }
});

test('the connection of mongodb is wrapped, which version 3 exports in an object of its own', async () => {
  for (const [folder, source] of [
    ['v3', 'class Connection { command() {} } module.exports = { Connection };'],
    ['v6', 'class Connection { command() {} } exports.Connection = Connection;'],
  ] as const) {
    const file = await driver(`${folder}/node_modules/mongodb/lib/cmap/connection.js`, source);
    const { Connection } = require(file) as { Connection: { prototype: { command: unknown } } };
    assert.ok(isWrapped(Connection.prototype.command), folder);
  }
});

test('a driver whose source an earlier hook returns as bytes is wrapped', async () => {
  const file = await driver('bytes/node_modules/mongodb/lib/cmap/connection.js', '');
  const { default: loaded } = (await import(pathToFileURL(file).href)) as {
    default: { Connection: { prototype: { command: unknown } } };
  };
  assert.ok(isWrapped(loaded.Connection.prototype.command));
});
