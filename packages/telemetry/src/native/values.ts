import type { RingWriter } from './ring-writer.ts';
import { VALUE } from './wire.ts';

const TWO_TO_32 = 2 ** 32;
const MAX_INTEGER = 2 ** 63;
const double = new Float64Array(1);
const doubleWords = new Uint32Array(double.buffer);

/** Keys and values, one after another. */
export type AttributeList = readonly unknown[];

/** Writes the number of attributes, and these. */
export function writeAttributes(writer: RingWriter, attributes: AttributeList): void {
  writer.word(attributes.length >> 1);
  for (let index = 0; index < attributes.length; index += 2) {
    writer.shared(attributes[index] as string);
    writeValue(writer, attributes[index + 1]);
  }
}

/** Writes a value. One that OTLP cannot carry is written as nothing. */
export function writeValue(
  writer: RingWriter,
  value: unknown,
  depth: number = VALUE.MAX_DEPTH,
): void {
  switch (typeof value) {
    case 'string':
      writer.word(VALUE.TEXT);
      writer.text(value);
      return;
    case 'number':
      writeNumber(writer, value);
      return;
    case 'boolean':
      writer.word(value ? VALUE.TRUE : VALUE.FALSE);
      return;
    case 'object':
      if (value !== null && (depth > 0 || value instanceof Uint8Array)) {
        writeObject(writer, value, depth - 1);
        return;
      }
      break;
    default:
  }
  writer.word(VALUE.NOTHING);
}

function writeNumber(writer: RingWriter, value: number): void {
  if (Number.isInteger(value) && value >= -MAX_INTEGER && value < MAX_INTEGER) {
    writer.word(VALUE.INTEGER);
    writer.word(value >>> 0);
    writer.word(Math.floor(value / TWO_TO_32) | 0);
    return;
  }
  double[0] = value;
  writer.word(VALUE.DOUBLE);
  writer.word(doubleWords[0] as number);
  writer.word(doubleWords[1] as number);
}

function writeObject(writer: RingWriter, value: object, depth: number): void {
  if (value instanceof Uint8Array) {
    writer.word(VALUE.BYTES);
    writer.bytes(value);
  } else if (Array.isArray(value)) {
    writer.word(VALUE.ARRAY);
    writer.word(value.length);
    // By index, for an array may have holes.
    for (let index = 0; index < value.length; index++) {
      writeValue(writer, value[index], depth);
    }
  } else {
    const entries = Object.entries(value);
    writer.word(VALUE.MAP);
    writer.word(entries.length);
    for (const [key, entry] of entries) {
      writer.shared(key);
      writeValue(writer, entry, depth);
    }
  }
}
