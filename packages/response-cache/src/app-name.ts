import { readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';

/**
 * What tells this app from another: the name in the package.json above its main file, and the folder of that file in the
 * package, since one package may hold several apps. Empty where there is none, as in a bundle without package.json.
 */
export function appName(mainFile: string | undefined = process.argv[1]): string {
  if (mainFile === undefined) return '';
  const folder = dirname(mainFile);
  for (let root = folder; ; root = dirname(root)) {
    const name = packageName(root);
    if (name !== undefined)
      return [name, ...relative(root, folder).split(sep)].filter(Boolean).join('/');
    if (dirname(root) === root) return '';
  }
}

function packageName(folder: string): string | undefined {
  try {
    const { name } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return typeof name === 'string' ? name : undefined;
  } catch {
    return undefined;
  }
}
