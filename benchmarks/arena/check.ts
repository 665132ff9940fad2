import { randomInt } from 'node:crypto';

export interface Check {
  /** Profiles of the board that are not accepted without it. */
  readonly profiles: readonly string[];
  readonly name: string;
  /** @throws {Error} if the response is not what the rules ask for */
  run(port: number): Promise<void>;
}

/** From `least` to `most`, both included: a number that nobody could prepare for. */
export function anyNumber(least: number, most: number): number {
  return randomInt(least, most + 1);
}

/** Compares a content type without its parameters. */
export function isType(header: string | undefined, type: string): boolean {
  return header?.split(';', 1)[0]?.trim() === type;
}
