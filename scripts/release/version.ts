// `npm run release:version`: sets versions and writes changelogs from the files in .changeset. Entries under `# Unreleased`
// belong to the current version of the package, and get its heading first.
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { obtainTools } from './registry.ts';
import { run } from './say.ts';

const root = join(import.meta.dirname, '../..');

/** Adds the headings of changesets, which inserts its own after the first line. */
export function withHeadings(changelog: string, name: string, version: string): string {
  return changelog.replace(/^# Unreleased\n/, `# ${name}\n\n## ${version}\n`);
}

if (import.meta.main) {
  for (const file of globSync('packages/*/CHANGELOG.md', { cwd: root })) {
    const path = join(root, file);
    const manifest = readFileSync(join(dirname(path), 'package.json'), 'utf8');
    const { name, version } = JSON.parse(manifest) as { name: string; version: string };
    writeFileSync(path, withHeadings(readFileSync(path, 'utf8'), name, version));
  }
  const cli = join(obtainTools(root), 'node_modules', '@changesets', 'cli', 'bin.js');
  run(process.execPath, [cli, 'version'], { cwd: root, stdio: 'inherit' });
  // The lock file repeats the versions of the workspaces.
  run('npm', ['install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: root,
  });
}
