import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';

const examples = join(import.meta.dirname, '../examples');

/** Copies an example into `folder`: the files that are committed, and no other. Returns where it is. */
export function copyExample(name: string, folder: string): string {
  const source = join(examples, name);
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: source,
    encoding: 'utf8',
  });
  for (const file of files.trim().split('\n')) {
    mkdirSync(dirname(join(folder, name, file)), { recursive: true });
    cpSync(join(source, file), join(folder, name, file));
  }
  return join(folder, name);
}
