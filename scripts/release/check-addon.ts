import { readFileSync } from 'node:fs';
import type { Target } from '../targets.mjs';
import { readAddon } from './elf.ts';

/** The oldest glibc that Node 22 runs on. */
const GLIBC = '2.28';
/** An addon has about 600 KB; half as much again is a dependency that nobody meant to add. */
const MOST_BYTES = 1_000_000;
/** Of the C library, or what every image that has a Node holds. */
const LIBRARIES = /^(?:libc|libm|libdl|libpthread|librt|libgcc_s|ld-linux-\S+)\.so(?:\.\d+)?$/;

export interface CheckedAddon {
  readonly bytes: number;
  /** The newest version of glibc it asks for; undefined for musl. */
  readonly glibc?: string;
  /** What must not be published, in sentences. */
  readonly complaints: readonly string[];
}

/** @param paths folders of this machine, which must not be readable in what is published */
export function checkAddon(path: string, target: Target, paths: readonly string[]): CheckedAddon {
  const file = readFileSync(path);
  const { machine, needs, versions } = readAddon(file);
  const glibc = newest(versions.filter((each) => each.startsWith('GLIBC_')));
  const complaints = [
    machine !== target.machine && `it is for machine ${machine}, not ${target.machine}`,
    file.length > MOST_BYTES && `it has ${file.length} bytes, and may have ${MOST_BYTES}`,
    target.libc === 'gnu' && glibc === undefined && 'it asks for no version of glibc',
    target.libc === 'musl' && glibc !== undefined && `it needs glibc ${glibc}`,
    glibc !== undefined && compare(glibc, GLIBC) > 0 && `it needs glibc ${glibc}, above ${GLIBC}`,
    ...needs.filter((name) => !LIBRARIES.test(name)).map((name) => `it needs ${name}`),
    ...paths.filter((each) => file.includes(each)).map((each) => `it contains the path ${each}`),
  ].filter((each) => each !== false);
  return { bytes: file.length, ...(glibc && { glibc }), complaints };
}

function newest(versions: readonly string[]): string | undefined {
  return versions
    .map((each) => each.slice('GLIBC_'.length))
    .toSorted(compare)
    .at(-1);
}

/** `2.9` is below `2.17`. */
function compare(one: string, other: string): number {
  return one.localeCompare(other, 'en', { numeric: true });
}
