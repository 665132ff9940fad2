// `npm run tarballs [-- NAME…]`: packs every package as npm would publish it, and the addons built on this machine, into
// redline-out/tarballs, and prints the commands that install the named ones in a project before they are on a registry.
import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { installLines, settingsFiles } from './release/install-lines.ts';
import { localAddons } from './release/local-addons.ts';
import { pack, packageFolders } from './release/pack.ts';

const root = join(import.meta.dirname, '..');
const known = packageFolders(root);
const help = `npm run tarballs -- [NAME…] [--into FOLDER]

  NAME    a package that a project is to have, of ${known.join(', ')}
          (http and lab, with the packages that they ask for)
  --into  the folder for the tarballs, which may hold those of an earlier run and nothing else (redline-out/tarballs)
`;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { into: { type: 'string' }, help: { type: 'boolean' } },
});
if (values.help) {
  process.stdout.write(help);
  process.exit();
}
const names = positionals.length > 0 ? positionals : ['http', 'lab'];
const unknown = names.find((name) => !known.includes(name));
if (unknown !== undefined) {
  process.stderr.write(`Unknown package "${unknown}".\n${help}`);
  process.exit(2);
}

const into = resolve(values.into ?? join(root, 'redline-out', 'tarballs'));
const foreign = existsSync(into) ? readdirSync(into).find((name) => !isOurs(name)) : undefined;
if (foreign !== undefined) {
  process.stderr.write(
    `--into ${into} holds ${foreign}, which this command has not written: name a folder that is empty or does not exist.\n`,
  );
  process.exit(2);
}
const tarballs = pack({ root, built: localAddons(root), into });
const wanted = names.map((name) => `@redline/${name}`);
process.stdout.write(`${tarballs.length} packages in ${into}\n\n`);
process.stdout.write(`In your project, for ${wanted.join(' and ')}:\n`);
for (const { manager, lines } of installLines({ tarballs, into, wanted })) {
  process.stdout.write(`\n${manager}\n${lines.map((line) => `  ${line}\n`).join('')}`);
}
process.stdout.write(`
For others: npm run tarballs -- NAME… of ${known.join(', ')}. The first of two lines is for once; in a
workspace it is for its root.
`);

/** Returns true for files of an earlier run, even an interrupted one. The folder is emptied. */
function isOurs(name: string): boolean {
  return /^redline-.+\.tgz$/.test(name) || ['staged', ...settingsFiles].includes(name);
}
