// Reads the headers of a Linux shared object: enough of ELF to know where an addon loads.
export interface Addon {
  /** `e_machine` of its header: 62 for x64, 183 for arm64. */
  readonly machine: number;
  readonly needs: readonly string[];
  /** The symbol versions it requires of them: `GLIBC_2.17`. */
  readonly versions: readonly string[];
}

const SECTION_DYNAMIC = 6;
const SECTION_VERSIONS = 0x6ffffffe;
const DYNAMIC_NEEDED = 1n;

/** @throws For anything other than a 64-bit little-endian ELF file. */
export function readAddon(file: Buffer): Addon {
  if (file.length < 64 || file.readUInt32BE(0) !== 0x7f454c46 || file.readUInt16BE(4) !== 0x0201) {
    throw new Error('It is not a 64-bit little-endian ELF file.');
  }
  const sections = sectionsOf(file);
  const dynamic = sections.find(({ type }) => type === SECTION_DYNAMIC);
  const versions = sections.find(({ type }) => type === SECTION_VERSIONS);
  return {
    machine: file.readUInt16LE(18),
    needs: dynamic ? neededBy(dynamic.bytes, sections[dynamic.link]!.bytes) : [],
    versions: versions ? versionsIn(versions.bytes, sections[versions.link]!.bytes) : [],
  };
}

interface Section {
  readonly type: number;
  /** Index of another section: here, the one with its strings. */
  readonly link: number;
  readonly bytes: Buffer;
}

function sectionsOf(file: Buffer): Section[] {
  const start = Number(file.readBigUInt64LE(40));
  const size = file.readUInt16LE(58);
  return Array.from({ length: file.readUInt16LE(60) }, (_, index) => {
    const at = start + index * size;
    const offset = Number(file.readBigUInt64LE(at + 24));
    const length = Number(file.readBigUInt64LE(at + 32));
    return {
      type: file.readUInt32LE(at + 4),
      link: file.readUInt32LE(at + 40),
      bytes: file.subarray(offset, offset + length),
    };
  });
}

function neededBy(entries: Buffer, texts: Buffer): string[] {
  const needs: string[] = [];
  for (let at = 0; at < entries.length; at += 16) {
    if (entries.readBigUInt64LE(at) === DYNAMIC_NEEDED) {
      needs.push(textAt(texts, Number(entries.readBigUInt64LE(at + 8))));
    }
  }
  return needs;
}

/** Parses a list of libraries, each with a list of required versions. */
function versionsIn(bytes: Buffer, texts: Buffer): string[] {
  const versions: string[] = [];
  for (let at = 0, isMore = bytes.length > 0; isMore;) {
    const count = bytes.readUInt16LE(at + 2);
    let entry = at + bytes.readUInt32LE(at + 8);
    for (let index = 0; index < count; index++) {
      versions.push(textAt(texts, bytes.readUInt32LE(entry + 8)));
      entry += bytes.readUInt32LE(entry + 12);
    }
    const next = bytes.readUInt32LE(at + 12);
    isMore = next !== 0;
    at += next;
  }
  return versions;
}

function textAt(texts: Buffer, offset: number): string {
  return texts.toString('latin1', offset, texts.indexOf(0, offset));
}
