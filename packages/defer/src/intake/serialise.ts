import { DeferError } from '../errors.ts';
import type { ResolvedQueue } from '../sink-queue/lane-options.ts';
import { messageOf } from '../thrown.ts';

/**
 * Returns the data as JSON.
 *
 * @throws {DeferError} ERR_REDLINE_DEFER_UNSERIALISABLE, _TOO_LARGE
 */
export function serialise(
  name: string,
  data: unknown,
  queue: ResolvedQueue,
  maxJobBytes: number,
): string {
  let json: string | undefined;
  try {
    json = data === undefined ? 'null' : JSON.stringify(data);
  } catch (cause) {
    throw new DeferError(
      'ERR_REDLINE_DEFER_UNSERIALISABLE',
      `The data of the job ${name} cannot be serialised to JSON: ${messageOf(cause)}`,
      { cause },
    );
  }
  if (json === undefined) {
    throw new DeferError(
      'ERR_REDLINE_DEFER_UNSERIALISABLE',
      `The data of the job ${name} is a ${typeof data}, which JSON cannot carry.`,
    );
  }
  const maxLength = Math.min(maxJobBytes, queue.maxJobBytes);
  if (json.length <= maxLength) return json;
  throw new DeferError(
    'ERR_REDLINE_DEFER_TOO_LARGE',
    `The data of the job ${name} is ${json.length} characters of JSON, and ${queue.maxJobBytes === maxLength ? `the sink ${queue.name}` : 'maxJobBytes'} allows ${maxLength}.`,
  );
}
