import { DeferError } from '../errors.ts';
import type { ResolvedLane } from '../lane/lane-options.ts';
import { messageOf } from '../thrown.ts';

/**
 * The data as JSON.
 *
 * @throws {DeferError} ERR_REDLINE_DEFER_UNSERIALISABLE, _TOO_LARGE
 */
export function serialise(
  name: string,
  data: unknown,
  lane: ResolvedLane,
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
  const most = Math.min(maxJobBytes, lane.maxJobBytes);
  if (json.length <= most) return json;
  throw new DeferError(
    'ERR_REDLINE_DEFER_TOO_LARGE',
    `The data of the job ${name} is ${json.length} characters of JSON, and ${lane.maxJobBytes === most ? `the sink ${lane.name}` : 'maxJobBytes'} allows ${most}.`,
  );
}
