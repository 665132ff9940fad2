// Packs every package as npm would publish it, and the addons built on this machine, into redline-out/tarballs:
// `npm run tarballs`. To be installed together, since one package asks for another by a version that may not be on the
// registry yet.
import { join } from 'node:path';
import { localAddons } from './release/local-addons.ts';
import { pack } from './release/pack.ts';

const root = join(import.meta.dirname, '..');
const into = join(root, 'redline-out', 'tarballs');
const tarballs = pack({ root, built: localAddons(root), into });
process.stdout.write(tarballs.map((file) => `${file}\n`).join(''));
process.stdout.write(`In your project: npm install ${join(into, '*.tgz')}\n`);
