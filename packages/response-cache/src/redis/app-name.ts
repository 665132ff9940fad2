import { readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';

/**
 * Returns a name that distinguishes this app from others: the name in the package.json above its main file, and the folder
 * of that file in the package, because one package may hold several apps. Without a package.json, as with a bundle, the path
 * of the file. Empty without a main file.
 */
export function appName(mainFile: string | undefined = findMainFile()): string {
  if (mainFile === undefined) return '';
  const folder = dirname(mainFile);
  for (let root = folder; ; root = dirname(root)) {
    const name = packageName(root);
    if (name !== undefined)
      return [name, ...relative(root, folder).split(sep)].filter(Boolean).join('/');
    if (dirname(root) === root) return mainFile;
  }
}

/* PM2 starts every app through its own file, and names the file of the app in the environment. */
function findMainFile(): string | undefined {
  const started = process.argv[1];
  const isPm2 = started !== undefined && /[\\/]ProcessContainer\w*\.js$/.test(started);
  return isPm2 ? (process.env['pm_exec_path'] ?? started) : started;
}

function packageName(folder: string): string | undefined {
  try {
    const { name } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return typeof name === 'string' ? name : undefined;
  } catch {
    return undefined;
  }
}
