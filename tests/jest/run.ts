// A Nest 11 app with the Jest of Nest's own starter, CommonJS through ts-jest, on the packages as npm would install them:
// `npm run test:nest11`. The one setting it adds is in app/package.json, and in docs/guide/jest.md.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { localAddons } from '../../scripts/release/local-addons.ts';
import { pack } from '../../scripts/release/pack.ts';

const packages = /redline-(?:nest|http|child-process|response-cache|defer|native-\S+)-\d/;
const installed =
  '@nestjs/common@11 @nestjs/core@11 @nestjs/platform-express@11 @nestjs/platform-fastify@11 @nestjs/testing@11 fastify@5 pino@10 reflect-metadata@0.2 rxjs@7 jest@30 ts-jest@29 @types/jest@30 @types/node@22 typescript@5';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'redline-jest-'));
try {
  cpSync(join(import.meta.dirname, 'app'), folder, { recursive: true });
  const into = join(folder, 'tarballs');
  const tarballs = pack({ root, built: localAddons(root), into }).filter((file) =>
    packages.test(basename(file)),
  );
  run('npm', ['install', '--no-audit', '--no-fund', ...installed.split(' '), ...tarballs]);
  run('npx', ['jest']);
  // As starters had it before: TypeScript then looks for types without the `exports` of a package.
  renameSync(join(folder, 'tsconfig.commonjs.json'), join(folder, 'tsconfig.json'));
  run('npx', ['jest']);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function run(command: string, args: readonly string[]): void {
  execFileSync(command, [...args], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, npm_config_loglevel: 'error' },
  });
}
