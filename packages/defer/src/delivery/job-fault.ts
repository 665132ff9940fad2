import type { Delivery } from '../sink.ts';
import { messageOf } from '../thrown.ts';

/** The job failed, not the sink: for example, the app's own function threw for it. */
export class JobFault extends Error {}

/** Returns the option's value, or the result of the app's function for the job. @throws {JobFault} if that throws */
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
