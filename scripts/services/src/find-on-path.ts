import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Returns the absolute path of the first of `names` that is an executable file on PATH. */
export function findOnPath(...names: string[]): string | undefined {
  // Debian keeps daemons in sbin, which a plain user's PATH may lack.
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  for (const name of names) {
    for (const folder of folders) {
      if (folder === '') continue;
      const file = join(folder, name);
      if (isExecutable(file)) return file;
    }
  }
  return undefined;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
