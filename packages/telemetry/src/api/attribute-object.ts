import type { Attributes } from '@opentelemetry/api';
import type { RingWriter } from '../native/ring-writer.ts';
import { writeValue } from '../native/values.ts';
import { SPAN } from '../native/wire.ts';

const MAX_COUNT = 2 ** SPAN.DROPPED_SHIFT - 1;

/** Writes the attributes of an event or a link, after their number and the number of those that were dropped. */
export function writeAttributeObject(
  writer: RingWriter,
  attributes: Attributes = {},
  dropped: number = 0,
): void {
  const keys = Object.keys(attributes);
  const count = Math.min(keys.length, MAX_COUNT);
  const all = dropped + keys.length - count;
  writer.word(count | (Math.min(all, MAX_COUNT) << SPAN.DROPPED_SHIFT));
  for (const key of keys.slice(0, count)) {
    writer.shared(key);
    writeValue(writer, attributes[key]);
  }
}
