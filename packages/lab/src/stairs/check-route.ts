import type { RequestConfig } from '../config/types.ts';
import { LabError } from '../errors.ts';
import { type Answer, label, send } from '../servers/contract.ts';
import type { Session } from './session.ts';

/** Enough to fill caches and finish lazy set-up. */
const warmRequests = 10;

/**
 * Checks that the route responds successfully: a refusal has fewer stages than a success.
 * @throws {LabError} ERR_REDLINE_STAIRS with the remedy in its message
 */
export async function checkRoute(
  session: Session,
  request: Required<RequestConfig>,
): Promise<void> {
  for (let count = 0; count < warmRequests; count++) {
    const answer = await send(session.server, request).catch(async (error: Error) => {
      throw await session.server.failure(`did not answer ${label(request)} (${error.message})`);
    });
    requireAnswer(answer, request);
  }
}

function requireAnswer({ status, body }: Answer, request: Required<RequestConfig>): void {
  if (status >= 200 && status < 400) return;
  const what = `${label(request)} answers ${status}`;
  const said = body.length === 0 ? '' : ` The response: ${body.subarray(0, 200).toString()}`;
  throw new LabError('ERR_REDLINE_STAIRS', `${what}${advice(status, request)}${said}`);
}

function advice(status: number, { headers }: Required<RequestConfig>): string {
  if (status === 401 || status === 403) {
    return 'authorization' in headers
      ? ': the route needs authorisation, and the credentials sent are not sufficient.'
      : ": the route needs authorisation; send it with -H 'authorization: Bearer …'.";
  }
  if (status === 404) return ': no such route; check the path.';
  if (status === 405) return ': the route takes a different method; give it with --method.';
  if (status === 429) return ': the app limits its rate; disable that for the measurement.';
  if (status >= 500) return ': a failing request cannot be measured.';
  return ': the route refuses this request; check its headers and body.';
}
