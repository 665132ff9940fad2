import type { Difference, Verdict } from './confirm.ts';
import { smaller, type Program } from './program.ts';

export interface Shrinking {
  readonly check: (program: Program) => Promise<Verdict>;
  readonly isLate: () => boolean;
  /** Called with each smaller program that differs. */
  readonly onSmaller?: (difference: Difference) => void;
}

/** Returns the smallest program that differs, of those looked at before it was late. */
export async function shrink(difference: Difference, shrinking: Shrinking): Promise<Difference> {
  const { check, isLate, onSmaller } = shrinking;
  for (const program of smaller(difference.program)) {
    if (isLate()) break;
    const verdict = await check(program);
    if (typeof verdict !== 'object') continue;
    onSmaller?.(verdict);
    return shrink(verdict, shrinking);
  }
  return difference;
}
