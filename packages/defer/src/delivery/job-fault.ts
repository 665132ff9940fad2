import type { Delivery } from '../sink.ts';
import { messageOf } from '../thrown.ts';

/** Where one job is at fault, and the sink is well: what the app's own function threw for it, say. */
export class JobFault extends Error {}

/** The option's value, or what the app's function makes of the job. @throws {JobFault} what that throws */
export function choose(
  option: string,
  given: string | ((delivery: Delivery) => string),
  delivery: Delivery,
): string {
  if (typeof given === 'string') return given;
  try {
    return given(delivery);
  } catch (cause) {
    throw new JobFault(`The option ${option} threw for "${delivery.job}": ${messageOf(cause)}`, {
      cause,
    });
  }
}
