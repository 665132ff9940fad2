// Becomes nginx, with the files of a folder.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

const { FILES_FOLDER, HOST, NGINX, PORT, WORK_FOLDER } = process.env;
const folder = join(WORK_FOLDER, PORT);
mkdirSync(folder, { recursive: true });
const known = { FILES: FILES_FOLDER, FOLDER: folder, HOST, PORT };
const file = join(folder, 'nginx.conf');
const template = readFileSync(join(import.meta.dirname, 'nginx.conf'), 'utf8');
writeFileSync(
  file,
  template.replaceAll(/\{\{(\w+)\}\}/g, (_, key) => known[key]),
);
// On PATH or a whole path: the shell finds either.
const args = [NGINX, '-p', folder, '-e', 'stderr', '-c', file];
process.execve('/bin/sh', ['sh', '-c', 'exec "$0" "$@"', ...args], process.env);
