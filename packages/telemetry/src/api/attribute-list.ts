import { diag, type Attributes } from '@opentelemetry/api';
import { cleanAttributes } from '@opentelemetry/core';
import type { RingWriter } from '../native/ring-writer.ts';
import { writeValue } from '../native/values.ts';
import { SPAN } from '../native/wire.ts';

/** Keys and values of a span, one after another: a span has few, and a map for each costs more than to compare keys. */
export type AttributeList = unknown[];

/** Returned for an attribute that a limit drops. */
export const OVER_LIMIT: unique symbol = Symbol('over the limit');

const NO_LIMIT = Infinity;

/**
 * Sets one attribute, or adds it if the list has room.
 *
 * @returns the value as it is kept, undefined if it is invalid or not a value, or `OVER_LIMIT`
 */
export function setAttribute(
  list: AttributeList,
  key: string,
  value: unknown,
  countLimit: number,
  lengthLimit: number,
): unknown {
  if (value === undefined) return undefined;
  if (key.length === 0) {
    warnOfKey(key);
    return undefined;
  }
  const at = indexOf(list, key);
  if (at === list.length && at >= countLimit * 2) return OVER_LIMIT;
  const kept = keptValue(key, value, lengthLimit);
  if (kept === undefined) return undefined;
  if (at === list.length) list.push(key, kept);
  else list[at + 1] = kept;
  return kept;
}

/** Adds the attributes with which a span starts to an empty list. Returns the number of those that were dropped. */
export function addAttributes(
  list: AttributeList,
  attributes: Attributes,
  countLimit: number,
  lengthLimit: number,
): number {
  let dropped = 0;
  for (const key in attributes) {
    if (!Object.hasOwn(attributes, key)) continue;
    const value = attributes[key];
    if (value === undefined) continue;
    if (key.length === 0) warnOfKey(key);
    else {
      const kept = keptValue(key, value, lengthLimit);
      if (kept !== undefined && list.length < countLimit * 2) {
        list.push(key, kept);
        continue;
      }
    }
    dropped++;
  }
  return dropped;
}

/** Returns an object that an exporter or a processor reads. */
export function objectOf(list: AttributeList): Attributes {
  const attributes: Attributes = {};
  for (let index = 0; index < list.length; index += 2) {
    attributes[list[index] as string] = list[index + 1];
  }
  return attributes;
}

/** Returns the list of an object whose values are valid. */
export function listOf(attributes: Attributes): AttributeList {
  return Object.entries(attributes).flat(1);
}

function indexOf(list: AttributeList, key: string): number {
  let index = 0;
  while (index < list.length && list[index] !== key) index += 2;
  return index;
}

/** Returns undefined for a value that no attribute can have, which is reported. */
function keptValue(key: string, value: unknown, lengthLimit: number): unknown {
  switch (typeof value) {
    case 'string':
      return value.length <= lengthLimit ? value : value.slice(0, lengthLimit);
    case 'number':
    case 'boolean':
      return value;
    default:
      return cleanAttributes(
        { [key]: value },
        { attributeCountLimit: NO_LIMIT, attributeValueLengthLimit: lengthLimit },
      ).attributes?.[key];
  }
}

function warnOfKey(key: string): void {
  diag.warn(`Invalid attribute key: ${key}`);
}

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
