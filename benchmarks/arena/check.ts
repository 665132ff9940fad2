import { randomInt } from 'node:crypto';

export interface Check {
  /** Profiles of the board that require this check. */
  readonly profiles: readonly string[];
  readonly name: string;
  /** @throws {Error} if the response violates the rules */
  run(port: number): Promise<void>;
}

/** Returns a random number from `least` to `most`, both included, which a server cannot anticipate. */
export function anyNumber(least: number, most: number): number {
  return randomInt(least, most + 1);
}

/** Compares a content type without its parameters. */
export function isType(header: string | undefined, type: string): boolean {
  return header?.split(';', 1)[0]?.trim() === type;
}
