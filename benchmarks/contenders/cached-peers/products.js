// What the origin, Redis and each contender that makes its own answers have: a thousand products of 600 bytes.
export const count = 1_000;
export const json = 'application/json; charset=utf-8';

const ofAll = JSON.parse(process.env.PRODUCT ?? '{}');

/** The JSON of one; undefined where there is none. */
export function productOf(id) {
  const number = Number(id);
  if (!Number.isInteger(number) || number < 1 || number > count) return undefined;
  return JSON.stringify({ ...ofAll, id: number });
}
