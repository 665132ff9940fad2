// Checks that the packages install and type-check for users: publint over every package, and the contents of its tarball.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';

const folder = join(import.meta.dirname, '../packages');
const license = readFileSync(join(folder, '../LICENSE'), 'utf8');
const complaints: string[] = [];
for (const name of readdirSync(folder)) {
  const pkgDir = join(folder, name);
  const pkg = JSON.parse(readFileSync(join(pkgDir, 'package.json'), 'utf8'));
  const { messages } = await publint({ pkgDir, strict: true });
  for (const message of messages) complaints.push(`${pkg.name}: ${formatMessage(message, pkg)}`);
  for (const complaint of lookInto(pkgDir)) complaints.push(`${pkg.name}: ${complaint}`);
}
for (const complaint of complaints) process.stderr.write(`${complaint}\n`);
process.exitCode = complaints.length > 0 ? 1 : 0;

function lookInto(pkgDir: string): string[] {
  const listed = execFileSync('npm', ['pack', '--dry-run', '--json', '--loglevel=error'], {
    cwd: pkgDir,
    encoding: 'utf8',
  });
  const [{ files }] = JSON.parse(listed) as [{ files: { path: string }[] }];
  const packed = new Set(files.map(({ path }) => path));
  const missing = ['LICENSE', 'README.md', 'CHANGELOG.md']
    .filter((file) => !packed.has(file))
    .map((file) => `${file} is not in the tarball`);
  const foreign = [...packed]
    // Source maps would need the sources next to them: three times the size, for lines that read the same.
    .filter((path) => /^test\/|\.test\.|\.tsbuildinfo$|\.new$|\.map$/.test(path))
    .map((path) => `${path} is in the tarball`);
  const stale = [...packed]
    .filter((path) => sourceOf(path) !== undefined && !existsSync(join(pkgDir, sourceOf(path)!)))
    .map((path) => `${path} has no source; delete dist and build again`);
  const isOurs = readFileSync(join(pkgDir, 'LICENSE'), 'utf8') === license;
  return [...missing, ...foreign, ...stale, ...(isOurs ? [] : ['LICENSE is not that of the root'])];
}

/** Returns the source of a compiled file in `dist`. */
function sourceOf(path: string): string | undefined {
  const [, name, kind] = /^dist\/(.*?)(?:\.d)?\.([cm]?)[jt]s$/.exec(path) ?? [];
  return name === undefined ? undefined : `src/${name}.${kind}ts`;
}
