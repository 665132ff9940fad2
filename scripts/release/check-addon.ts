import { readFileSync } from 'node:fs';
import type { Target } from '../targets.mjs';
import { readAddon } from './elf.ts';

/** The oldest glibc supported by Node 22. */
const GLIBC = '2.28';
/** An addon has about 600 KB; half as much again suggests an unintended dependency. */
const MAX_BYTES = 1_000_000;
/** Libraries of the C library, or present in every image with a Node. */
const LIBRARIES = /^(?:libc|libm|libdl|libpthread|librt|libgcc_s|ld-linux-\S+)\.so(?:\.\d+)?$/;

export interface CheckedAddon {
  readonly bytes: number;
  /** The newest glibc version it requires; undefined for musl. */
  readonly glibc?: string;
  /** Reasons against publishing it, as sentences. */
  readonly complaints: readonly string[];
}

/** @param paths folders of this machine, which must not appear in published files */
export function checkAddon(path: string, target: Target, paths: readonly string[]): CheckedAddon {
  const file = readFileSync(path);
  const { machine, needs, versions } = readAddon(file);
  const glibc = newest(versions.filter((each) => each.startsWith('GLIBC_')));
  const complaints = [
    machine !== target.machine && `it is for machine ${machine}, not ${target.machine}`,
    file.length > MAX_BYTES && `it has ${file.length} bytes, and may have ${MAX_BYTES}`,
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

/** Compares versions: `2.9` is below `2.17`. */
function compare(one: string, other: string): number {
  return one.localeCompare(other, 'en', { numeric: true });
}
