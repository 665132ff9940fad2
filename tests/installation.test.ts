// What npm can leave behind on a user's disk. Whatever it is, the app serves and starts processes, and `engine()` says in a
// sentence what to do where they run on Node's own modules.
import assert from 'node:assert/strict';
import {
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { interfaceHash } from '../scripts/interface.mjs';
import { crates, targets } from '../scripts/targets.mjs';
import { addPlatform, copyPackage, install, local, outcomeIn } from './installed/install.ts';

const works = ['answer', 'output\n'];
const native = { http: { name: 'native' }, spawn: { name: 'native' }, works };
const onNode = (http: string, spawn = http) => ({
  http: { name: 'node', reason: http },
  spawn: { name: 'node', reason: spawn },
  works,
});
const again = 'delete node_modules and install again';

/** What distinguishes an addon from one that was built with its JavaScript. */
const stale: Record<string, (file: string, crate: string) => void> = {
  'have another interface': (file, crate) => {
    const hash = interfaceHash(crate);
    replaceInside(file, hash, hash.split('').toReversed().join(''));
  },
  'lack a function': (file) => replaceInside(file, 'interfaceHash', 'formerMethods'),
};

describe(
  'an app finds the addons',
  { skip: local === undefined && 'no addon is built here' },
  () => {
    const { target } = local ?? { target: targets[0]! };

    test('of the platform package', async () => {
      using app = install();
      addPlatform(app.scope, target);
      assert.deepEqual(await outcomeIn(app.folder), native);
    });

    test('beside those for other systems, as Yarn 1 installs them', async () => {
      using app = install();
      for (const each of targets) addPlatform(app.scope, each);
      assert.deepEqual(await outcomeIn(app.folder), native);
    });

    test('under a path with spaces and letters of any script', async () => {
      using app = install('redline späte Grüße 安装 %41 #');
      addPlatform(app.scope, target);
      assert.deepEqual(await outcomeIn(app.folder), native);
    });

    test('through the links of a store, as pnpm installs them', async () => {
      using app = install();
      const store = join(app.folder, 'node_modules', '.pnpm');
      for (const name of ['http', 'child-process']) {
        const scope = join(store, `@redline+${name}`, 'node_modules', '@redline');
        mkdirSync(scope, { recursive: true });
        renameSync(join(app.scope, name), join(scope, name));
        symlinkSync(join(scope, name), join(app.scope, name));
        addPlatform(scope, target);
      }
      assert.deepEqual(await outcomeIn(app.folder), native);
    });

    test('in two versions, each its own, in one process', async () => {
      using app = install();
      addPlatform(app.scope, target);
      const other = join(app.folder, 'node_modules', 'dependency', 'node_modules', '@redline');
      for (const name of ['http', 'child-process']) {
        copyPackage(name, join(other, name));
        setVersion(join(other, name), '0.0.1');
      }
      addPlatform(other, target, '0.0.1');
      const dependency = join(app.folder, 'node_modules', 'dependency');
      writeFileSync(join(dependency, 'package.json'), '{ "exports": "./index.mjs" }');
      renameSync(join(app.folder, 'main.mjs'), join(dependency, 'index.mjs'));
      writeFileSync(
        join(app.folder, 'main.mjs'),
        `import '@redline/http'; import { engine } from '@redline/child-process'; engine(); import('dependency');`,
      );
      assert.deepEqual(await outcomeIn(app.folder), native);
    });

    test('where nothing can be written', async () => {
      using app = install();
      addPlatform(app.scope, target);
      const permissions = ['--permission', '--allow-fs-read=*', '--allow-addons', ...mayConnect()];
      const { http, works: done } = await outcomeIn(
        app.folder,
        ...permissions,
        '--allow-child-process',
      );
      assert.deepEqual([http, done], [{ name: 'native' }, works]);
    });
  },
);

describe('an app runs on Node, and says why,', { skip: local === undefined }, () => {
  const { target } = local ?? { target: targets[0]! };
  const name = target.package;
  const other = targets.find(({ cpu, libc }) => cpu === target.cpu && libc !== target.libc)!;

  test('without the platform package', async () => {
    using app = install();
    assert.deepEqual(
      await outcomeIn(app.folder),
      onNode(
        `${name} is not installed; install with --include=optional, or in a clone run: node scripts/build-native.mjs`,
      ),
    );
  });

  test('with node_modules of a system with another C library', async () => {
    using app = install();
    addPlatform(app.scope, other);
    assert.deepEqual(
      await outcomeIn(app.folder),
      onNode(
        `${name} is not installed, but the addon for ${other.name} is; run the installation on the system that runs the app`,
      ),
    );
  });

  test('with a platform package of another version', async () => {
    using app = install();
    addPlatform(app.scope, target, '9.9.9');
    const { http, spawn, works: done } = await outcomeIn(app.folder);
    assert.match(http.reason!, /native-\S+ is version 9\.9\.9, but @redline\/http is \d/);
    assert.match(spawn.reason!, /is version 9\.9\.9, but @redline\/child-process is \d/);
    assert.deepEqual(done, works);
  });

  test('with a platform package that has lost its addons', async () => {
    using app = install();
    const folder = addPlatform(app.scope, target);
    for (const addon of ['http', 'child-process']) rmSync(join(folder, `${addon}.node`));
    assert.deepEqual(
      await outcomeIn(app.folder),
      onNode(`${name} has no http.node; ${again}`, `${name} has no child-process.node; ${again}`),
    );
  });

  test('with half an addon, which would end the process', async () => {
    using app = install();
    const folder = addPlatform(app.scope, target);
    const halve = (addon: string): string => {
      const file = join(folder, addon);
      const { size } = statSync(file);
      const half = Math.trunc(size / 2);
      truncateSync(file, half);
      return `${file} has ${half} bytes instead of ${size}; ${again}`;
    };
    const reasons = [halve('http.node'), halve('child-process.node')] as const;
    assert.deepEqual(await outcomeIn(app.folder), onNode(...reasons));
  });

  test('with an addon that the system refuses', async () => {
    using app = install();
    const folder = addPlatform(app.scope, target);
    for (const addon of ['http.node', 'child-process.node']) {
      const file = join(folder, addon);
      writeFileSync(file, Buffer.alloc(statSync(file).size));
    }
    const { http, spawn, works: done } = await outcomeIn(app.folder);
    for (const { reason } of [http, spawn]) {
      assert.match(reason!, /^the addon does not load: .*\.node: \S/);
    }
    assert.deepEqual(done, works);
  });

  // Addons that load, and would then be called by names or with numbers that they do not know.
  for (const [what, edit] of Object.entries(stale)) {
    test(`with a platform package whose addons ${what}`, async () => {
      using app = install();
      const folder = addPlatform(app.scope, target);
      const reasonOf = (addon: keyof typeof crates): string => {
        const file = join(folder, `${addon}.node`);
        edit(file, crates[addon]);
        return `${file} was built for another version of @redline/${addon}; ${again}`;
      };
      const reasons = [reasonOf('http'), reasonOf('child-process')] as const;
      assert.deepEqual(await outcomeIn(app.folder), onNode(...reasons));
    });

    test(`in a clone whose addons ${what}`, async () => {
      using app = install();
      const reasonOf = (addon: keyof typeof crates): string => {
        const file = join(app.scope, addon, `${addon}.${target.name}.node`);
        copyFileSync(local!.addons[addon]!, file);
        edit(file, crates[addon]);
        return `${file} was built for another version of @redline/${addon}; run: npm run build:all`;
      };
      const reasons = [reasonOf('http'), reasonOf('child-process')] as const;
      assert.deepEqual(await outcomeIn(app.folder), onNode(...reasons));
    });
  }

  test('on a processor that no addon is for', async () => {
    using app = install();
    const outcome = await outcomeIn(app.folder, ...pretend('arch', 'riscv64'));
    const all = targets.map((each) => each.name).join(', ');
    assert.deepEqual(
      outcome,
      onNode(
        `no addon for linux-riscv64-${target.libc}, only for ${all}; in a clone, cargo builds it`,
      ),
    );
  });

  for (const platform of ['win32', 'darwin']) {
    test(`on ${platform}`, async () => {
      using app = install();
      assert.deepEqual(
        await outcomeIn(app.folder, ...pretend('platform', platform)),
        onNode('the native engine is for Linux'),
      );
    });
  }
});

/** Replaces text inside an addon by text of the same length. */
function replaceInside(file: string, text: string, by: string): void {
  const bytes = readFileSync(file);
  const at = bytes.indexOf(text);
  assert.ok(at >= 0, `${file} has no ${text}`);
  bytes.write(by, at);
  writeFileSync(file, bytes);
}

function setVersion(folder: string, version: string): void {
  const file = join(folder, 'package.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as object;
  writeFileSync(file, JSON.stringify({ ...manifest, version }));
}

/** Before anything else runs; what Node itself has read of it stays true. */
function pretend(property: string, value: string): string[] {
  const code = `Object.defineProperty(process, '${property}', { value: '${value}' })`;
  return ['--import', `data:text/javascript,${encodeURIComponent(code)}`];
}

/** From Node 25 on the permission model covers the network. */
function mayConnect(): string[] {
  return process.allowedNodeEnvironmentFlags.has('--allow-net') ? ['--allow-net'] : [];
}
