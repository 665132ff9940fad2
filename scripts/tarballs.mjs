// Packs every package as npm would publish it, into redline-out/tarballs: `npm run tarballs`. To be installed together,
// since one package asks for another by a version that may not be on the registry yet.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const folder = join(root, 'redline-out', 'tarballs');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
execFileSync(
  'npm',
  ['pack', '--workspace=packages', '--pack-destination', folder, '--loglevel=error'],
  {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  },
);
process.stdout.write(
  readdirSync(folder)
    .map((name) => `${join(folder, name)}\n`)
    .join(''),
);
process.stdout.write(`In your project: npm install ${join(folder, '*.tgz')}\n`);
