import { join } from 'node:path';
import { type Entry, programsOf } from './entries.ts';
import { folderComplaints, readMeta } from './folder-rules.ts';
import { checks } from './profiles.ts';
import { startEntry } from './start-entry.ts';
import { writeDataset } from './dataset.ts';

const out = join(import.meta.dirname, '../../redline-out/arena');

export interface Validated {
  /** Number of checks that were run. */
  readonly checks: number;
  /** Reasons why the board would reject it, as sentences. */
  readonly complaints: readonly string[];
}

/** Checks an entry's folder, starts it, and checks its responses by the rules of the profiles it names. */
export async function validate(entry: Entry): Promise<Validated> {
  const complaints = folderComplaints(entry.folder);
  const { tests } = readMeta(entry.folder);
  const wanted = checks.filter(({ profiles }) => profiles.some((name) => tests.includes(name)));
  await using server = await startEntry(
    programsOf(entry),
    writeDataset(join(out, 'data', entry.name)),
  );
  for (const check of wanted) {
    try {
      await check.run(server.port);
    } catch (error) {
      complaints.push(`${check.name}: ${(error as Error).message}`);
    }
  }
  return { checks: wanted.length, complaints };
}
