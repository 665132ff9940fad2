import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Evidence, majorOf, type Measurement } from '@redline/eslint-plugin';
import type { Proof } from './proof.ts';

/** Adds measurements to the rule's file. They replace older ones of the same major version, and all that timed other code. */
export async function updateEvidence(
  file: string,
  proof: Proof,
  measurements: readonly Measurement[],
): Promise<Evidence> {
  const known = await read(file);
  const timedThisCode = known?.before === proof.before && known.after === proof.after;
  const majors = new Set(measurements.map(majorOf));
  const kept = timedThisCode ? known.measurements.filter((each) => !majors.has(majorOf(each))) : [];
  const evidence: Evidence = {
    schema: 1,
    rule: proof.name,
    before: proof.before,
    after: proof.after,
    ...(proof.changesResult === undefined ? {} : { changesResult: proof.changesResult }),
    measurements: [...kept, ...measurements.map(rounded)].toSorted(
      (a, b) => majorOf(a) - majorOf(b),
    ),
  };
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(evidence, undefined, 2)}\n`);
  return evidence;
}

/** Rounds to four digits: more than any interval here supports, and a diff that can be read. */
function rounded(measurement: Measurement): Measurement {
  const { value, low, high } = measurement.ratio;
  return {
    ...measurement,
    ratio: { value: digits(value), low: digits(low), high: digits(high) },
    beforeNanos: digits(measurement.beforeNanos),
    afterNanos: digits(measurement.afterNanos),
  };
}

function digits(value: number): number {
  return Number(value.toPrecision(4));
}

async function read(file: string): Promise<Evidence | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Evidence;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
