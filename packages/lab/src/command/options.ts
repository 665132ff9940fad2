import { InvalidArgumentError } from 'commander';

/** Parsers for option values; commander shows their sentence with the offending value. */
export function parseNames(text: string): string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
}

export function parseCount(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count > 0) return count;
  throw new InvalidArgumentError('It takes a whole number above 0.');
}

const minRounds = 6;

/** Requires enough rounds: with fewer, the interval of the slope is unbounded. */
export function parseRounds(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= minRounds) return count;
  throw new InvalidArgumentError(`It takes a whole number, ${minRounds} or more.`);
}

/** Accepts `2%` or `0.02`. */
export function parseMargin(text: string): number {
  const [, digits, sign] = /^\s*(\d*\.?\d+)\s*(%?)\s*$/.exec(text) ?? [];
  const margin = Number(digits) / (sign ? 100 : 1);
  if (margin > 0 && margin < 1) return margin;
  throw new InvalidArgumentError('It takes a share such as 2% or 0.02.');
}

export function parseSeed(text: string): number {
  const seed = Number(text);
  if (Number.isInteger(seed) && seed >= 0 && seed < 2 ** 32) return seed;
  throw new InvalidArgumentError('It takes a whole number below 4294967296.');
}

export function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (Number.isFinite(seconds) && seconds > 0 && text.trim() !== '') return seconds;
  throw new InvalidArgumentError('It takes a number of seconds above 0.');
}

export function parseSecondsOrNone(text: string): number {
  return Number(text) === 0 && text.trim() !== '' ? 0 : parseSeconds(text);
}
