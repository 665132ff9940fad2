// Writes the steps into src: each is the file before it with one patch. `npm start` and redline.config.mts begin with it.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const source = join(import.meta.dirname, 'src');
const patches = join(import.meta.dirname, 'patches');

/** Names of the steps in their order, without their ending. */
export const steps: string[] = ['00-original'];

for (const file of readdirSync(patches).toSorted()) {
  const step = file.replace('.patch', '');
  const before = readFileSync(join(source, `${steps.at(-1)}.js`), 'utf8');
  const text = patched(before, readFileSync(join(patches, file), 'utf8'), file);
  writeFileSync(join(source, `${step}.js`), text);
  steps.push(step);
}

/** Applies a unified diff, of which each line must be as it says. */
function patched(before: string, patch: string, name: string): string {
  const lines = before.split('\n');
  const result: string[] = [];
  let next = 0;
  for (const line of patch.slice(patch.indexOf('\n@@') + 1, -1).split('\n')) {
    const from = /^@@ -(\d+)/.exec(line)?.[1];
    if (from !== undefined) {
      while (next < Number(from) - 1) result.push(lines[next++]!);
      continue;
    }
    const text = line.slice(1);
    if (line[0] !== '+' && lines[next++] !== text) {
      throw new Error(`${name} does not fit line ${next} of the step before: ${text}`);
    }
    if (line[0] !== '-') result.push(text);
  }
  return [...result, ...lines.slice(next)].join('\n');
}
