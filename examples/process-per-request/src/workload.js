// What every server here runs for a request, and where it listens. WORKLOAD=echo (default) or cat.
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import process from 'node:process';

const folder = new URL('../generated/', import.meta.url);
/** The article cats a C file of SQLite of this size; any text does. */
const textBytes = 163 * 1024;

/** Program and arguments: `spawn(...command)`. */
export const command = process.env.WORKLOAD === 'cat' ? ['cat', [textFile()]] : ['echo', ['hi']];

export const port = Number(process.env.PORT ?? 8001);
export const host = process.env.HOST ?? '127.0.0.1';

/** Memory a server holds, so that a fork has page tables to copy. */
export const resident = holdMemory(Number(process.env.RESIDENT_MIB ?? 0));

export function textFile() {
  const file = new URL('main.txt', folder);
  if (!existsSync(file)) {
    mkdirSync(folder, { recursive: true });
    // Written aside and renamed: another server may be starting too.
    const draft = new URL(`main.txt.${process.pid}`, folder);
    writeFileSync(draft, text());
    renameSync(draft, file);
  }
  return file.pathname;
}

function text() {
  let lines = '';
  for (let n = 1; lines.length < textBytes; n++) {
    lines += `/* ${n} */ static int step${n}(int x){ return x * ${n * 7919} + ${n % 13}; }\n`;
  }
  return lines.slice(0, textBytes);
}

function holdMemory(mebibytes) {
  // Filled: a page nobody wrote to is not resident.
  return Array.from({ length: mebibytes }, () => new Uint8Array(2 ** 20).fill(1));
}
