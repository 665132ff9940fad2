import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Evidence, majorOf, readEvidence } from '@redline/eslint-plugin';

/** Reads the evidence shipped with the plugin; proofs made on this machine replace it, version by version. */
export async function knownEvidence(folder: string): Promise<Map<string, Evidence>> {
  const known = readEvidence();
  const names = await readdir(folder).catch(() => [] as string[]);
  for (const name of names.filter((each) => each.endsWith('.json'))) {
    const own = JSON.parse(await readFile(join(folder, name), 'utf8')) as Evidence;
    const shipped = known.get(own.rule);
    if (!shipped || shipped.before !== own.before || shipped.after !== own.after) continue;
    const proved = new Set(own.measurements.map(majorOf));
    const rest = shipped.measurements.filter((each) => !proved.has(majorOf(each)));
    const measurements = [...rest, ...own.measurements];
    measurements.sort((a, b) => majorOf(a) - majorOf(b));
    known.set(own.rule, { ...shipped, measurements });
  }
  return known;
}
