import {
  createCipheriv,
  createDecipheriv,
  hkdfSync,
  randomBytes,
  type KeyObject,
} from 'node:crypto';
import type { KnownKey } from './seal-options.ts';
import { crc32 } from 'node:zlib';

/*
 * AES-256-GCM, with a key for each file: HKDF-SHA-256 of the app's key, 32 random bytes and the file's place. So the app's key
 * encrypts nothing itself and has no limit of messages, and a counter is enough to make the nonces of a file unique.
 */
const cipherName = 'aes-256-gcm';
const saltBytes = 32;
const tagBytes = 16;
const options = { authTagLength: tagBytes };
/** Ends each sealed text: the tag may end in a zero, and recovery takes zeros at the end of a file for reserved space. */
const lastByte = 0x5a;
/** Bytes of a sealed text in addition to its UTF-8. */
export const sealBytes: number = tagBytes + 1;

/** Written in clear: a reader finds and checks the key with it. */
export interface SealNote {
  /** The id of the app's key. */
  readonly key: string;
  readonly salt: string;
  /** The tag of an empty message, under a nonce that no record has: tells another key from damage. */
  readonly check: string;
}

/** Seals and opens the records of one file. */
export class Sealing {
  readonly keyId: string;
  readonly note: SealNote;
  readonly #key: Buffer;
  readonly #nonce = Buffer.alloc(12);

  private constructor(keyId: string, key: KeyObject, salt: Buffer, place: string) {
    this.keyId = keyId;
    this.#key = Buffer.from(hkdfSync('sha256', key, salt, `@redline/defer ${place}`, 32));
    this.note = {
      key: keyId,
      salt: salt.toString('base64url'),
      check: this.#checkTag().toString('base64url'),
    };
  }

  /** Creates the sealing of a new file. `place` names it; no two files have the same one at the same time. */
  static make({ id, key }: KnownKey, place: string): Sealing {
    return new Sealing(id, key, randomBytes(saltBytes), place);
  }

  /** Returns the sealing of an existing file; undefined if it was sealed with another key, or for another place. */
  static of(note: SealNote, key: KeyObject, place: string): Sealing | undefined {
    const sealing = new Sealing(note.key, key, Buffer.from(note.salt, 'base64url'), place);
    return sealing.note.check === note.check ? sealing : undefined;
  }

  /**
   * Writes the sealed text to `into`, and returns its length. No two texts of a file may have the same `number`; both numbers are
   * below 2^48, and `number` is above 0.
   */
  write(text: string, into: Buffer, at: number, number: number, offset: number): number {
    const cipher = createCipheriv(cipherName, this.#key, this.#nonceOf(number, offset), options);
    const sealed = cipher.update(text, 'utf8');
    cipher.final();
    const end = at + sealed.length;
    into.set(sealed, at);
    into.set(cipher.getAuthTag(), end);
    into[end + tagBytes] = lastByte;
    return sealed.length + sealBytes;
  }

  /** Returns undefined if the bytes differ from what was written under this number at this offset. */
  read(bytes: Buffer, number: number, offset: number): string | undefined {
    const end = bytes.length - sealBytes;
    if (end < 0 || bytes[bytes.length - 1] !== lastByte) return undefined;
    const nonce = this.#nonceOf(number, offset);
    const decipher = createDecipheriv(cipherName, this.#key, nonce, options);
    decipher.setAuthTag(bytes.subarray(end, end + tagBytes));
    const text = decipher.update(bytes.subarray(0, end));
    try {
      decipher.final();
    } catch {
      return undefined;
    }
    return text.toString('utf8');
  }

  /*
   * The number makes the nonce unique. The offset binds the record to its position, as additional authenticated data would,
   * without another call.
   */
  #nonceOf(number: number, offset: number): Buffer {
    this.#nonce.writeUIntBE(number, 0, 6);
    this.#nonce.writeUIntBE(offset, 6, 6);
    return this.#nonce;
  }

  #checkTag(): Buffer {
    const cipher = createCipheriv(cipherName, this.#key, this.#nonceOf(0, 0), options);
    cipher.final();
    return cipher.getAuthTag();
  }
}

/** Returns undefined if the text is not a note. */
export function parseNote(text: string): SealNote | undefined {
  try {
    const note = JSON.parse(text) as SealNote;
    const isNote = [note.key, note.salt, note.check].every((each) => typeof each === 'string');
    return isNote ? note : undefined;
  } catch {
    return undefined;
  }
}

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
