import { crc32 } from 'node:zlib';
import type { KnownKey } from './seal-options.ts';
import { parseNote, sealBytes, Sealing, type SealNote } from './sealing.ts';

/*
 * A file of one text: the note as JSON, a space and its checksum; on the next line the sealed bytes in base64. The checksum tells a
 * damaged note from that of another key: the first is one unreadable file, the second keeps the app from starting.
 */

/** The number of the only text of a file. */
const onlyText = 1;

export function sealText(text: string, key: KnownKey, place: string): string {
  const sealing = Sealing.make(key, place);
  const bytes = Buffer.alloc(Buffer.byteLength(text) + sealBytes);
  sealing.write(text, bytes, 0, onlyText, 0);
  const note = JSON.stringify(sealing.note);
  return `${note} ${crc32(note)}\n${bytes.toString('base64')}\n`;
}

/** Returns undefined for a file in clear, and for one whose note is damaged. */
export function noteOf(file: string): SealNote | undefined {
  const line = file.slice(0, Math.max(0, file.indexOf('\n')));
  const end = line.lastIndexOf(' ');
  const note = line.slice(0, Math.max(0, end));
  return line.slice(end + 1) === String(crc32(note)) ? parseNote(note) : undefined;
}

/** Returns undefined if it differs from what was written. */
export function openText(file: string, sealing: Sealing): string | undefined {
  const bytes = Buffer.from(file.slice(file.indexOf('\n') + 1), 'base64');
  return sealing.read(bytes, onlyText, 0);
}
