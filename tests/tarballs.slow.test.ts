// `npm run tarballs`, and the lines it prints, typed in a project of each package manager.
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import {
  chmodSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { managers } from '../scripts/release/managers.ts';
import { obtainTools } from '../scripts/release/registry.ts';
import { local } from './installed/install.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..');
const program = `
import '@redline/lab';
import { engine } from '@redline/http';
console.log(JSON.stringify(engine()));
`;

describe('npm run tarballs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'redline tarballs '));
  const programs = join(folder, 'bin');
  let printed = '';
  let tarballs: string[] = [];
  before(async () => {
    const script = join(root, 'scripts', 'tarballs.ts');
    const into = join(folder, 'packed');
    ({ stdout: printed } = await run(process.execPath, [script, 'http', 'lab', '--into', into]));
    tarballs = globSync('*.tgz', { cwd: into }).map((name) => join(into, name));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  test('packs the licences and the bill of materials of what is in an addon', (t) => {
    if (local === undefined) return t.skip('no addon is built here');
    const file = tarballs.find((each) => basename(each).includes(local!.target.name));
    const read = (name: string): string =>
      execFileSync('tar', ['-xzOf', file!, `package/${name}`], { encoding: 'utf8' });
    const { components } = JSON.parse(read('sbom.cdx.json')) as { components: { name: string }[] };
    const licences = read('THIRD-PARTY-LICENSES.txt');
    assert.ok(components.some(({ name }) => name === 'httparse'));
    for (const { name } of components) {
      assert.ok(licences.includes(`\n${name} `), `${name} has no licence`);
    }
  });

  test('names the packages that it knows', async () => {
    const script = join(root, 'scripts', 'tarballs.ts');
    await assert.rejects(run(process.execPath, [script, 'htpp']), {
      code: 2,
      stderr: /^Unknown package "htpp"\.\n[^]*NAME .* of child-process, defer, .*http/,
    });
  });

  describe('prints what installs the engine and the lab, and keeps what the project has, with', () => {
    const tools = obtainTools(root);
    const [bun] = globSync('node_modules/@oven/bun-*/bin/bun', { cwd: tools });
    const upstream = execFileSync('npm', ['config', 'get', 'registry'], {
      cwd: root,
      encoding: 'utf8',
    }).trim();
    const all = [
      ...managers(tools),
      {
        name: 'Bun',
        install: bun === undefined ? [] : [join(tools, bun)],
        flags: [],
        configure: (app: string) => writeFileSync(join(app, '.npmrc'), `registry=${upstream}\n`),
      },
    ];
    for (const { name, install, flags, configure } of all) {
      test(
        name,
        { skip: install.length === 0 && 'Bun has no program for this system' },
        async () => {
          const word = /^\w+/.exec(name)![0];
          const app = join(folder, name.replaceAll(/\W+/g, '-'));
          const cache = join(app, 'cache');
          mkdirSync(cache, { recursive: true });
          writeFileSync(
            join(app, 'package.json'),
            '{ "name": "app", "private": true, "resolutions": { "left-pad": "1.3.0" } }',
          );
          writeFileSync(join(app, 'main.mjs'), program);
          configure(app, upstream, cache);
          putOnPath(join(app, 'bin'), word.toLowerCase(), install[0]!);
          const env = environment([join(app, 'bin'), programs], cache);
          const lines = linesFor(word);
          assert.ok(lines.length > 0, printed);
          await run('sh', ['-ec', lines.join('\n')], { cwd: app, env, timeout: 180_000 });
          const { stdout } = await run(process.execPath, ['--no-warnings', ...flags, 'main.mjs'], {
            cwd: app,
            env,
          });
          assert.equal(JSON.parse(stdout).name, local === undefined ? 'node' : 'native');
          const { resolutions } = JSON.parse(readFileSync(join(app, 'package.json'), 'utf8'));
          assert.equal(resolutions['left-pad'], '1.3.0');
        },
      );
    }
  });

  /** The indented lines below the name of a package manager. */
  function linesFor(name: string): string[] {
    const [, text = ''] = new RegExp(`^${name}\\n((?: {2}.*\\n)+)`, 'm').exec(printed) ?? [];
    return text.split('\n').map((line) => line.trim());
  }
});

function putOnPath(folder: string, name: string, file: string): void {
  mkdirSync(folder, { recursive: true });
  const node = /\.[cm]?js$/.test(file) ? `'${process.execPath}' ` : '';
  writeFileSync(join(folder, name), `#!/bin/sh\nexec ${node}'${file}' "$@"\n`);
  chmodSync(join(folder, name), 0o755);
}

/** Of a person at a shell, with caches of their own: those of this machine may hold other packages of the same version. */
function environment(programs: readonly string[], cache: string): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^npm_|^NODE_(?:OPTIONS|TEST)/i.test(name),
  );
  return {
    ...Object.fromEntries(own),
    PATH: [...programs, process.env['PATH']].join(delimiter),
    HOME: cache,
    BUN_INSTALL_CACHE_DIR: join(cache, 'bun'),
    YARN_CACHE_FOLDER: join(cache, 'yarn'),
    NO_COLOR: '1',
    CI: '1',
  };
}
