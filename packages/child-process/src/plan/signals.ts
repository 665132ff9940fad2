import { constants } from 'node:os';

const numbers: Readonly<Record<string, number>> = constants.signals;
const names = new Map(
  Object.entries(numbers)
    .toReversed()
    .map(([name, number]) => [number, name as NodeJS.Signals]),
);

export function signalName(number: number): NodeJS.Signals | undefined {
  return names.get(number);
}

/** Returns the signal's number or name in Node's form; `undefined` if it is neither. */
export function validSignal(signal: unknown): NodeJS.Signals | number | undefined {
  if (typeof signal === 'number') return names.has(signal) ? signal : undefined;
  if (typeof signal !== 'string') return undefined;
  return numbers[signal.toUpperCase()];
}
