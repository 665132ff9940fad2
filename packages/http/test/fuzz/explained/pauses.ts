import type { Explanation } from './difference.ts';
import { atOnce, needsDrain, pauses as pausesLast, ran, resumesAndPauses } from './programs.ts';
import { asFarAsHeard, beforeEndOfBody } from './remedies.ts';
import { hearsLess, hearsLessOfBody } from './transcripts.ts';

/** Of `request.socket.pause()`. */
export const pauses: Explanation[] = [
  {
    reason:
      'a socket that is resumed and paused in one tick is paused; Node reads on, and hears what the client sends and that it ends',
    covers: ({ node, redline, case: of }) =>
      hearsLess(node, redline) &&
      (ran(of, redline).some(resumesAndPauses) ||
        resumesAndPauses(ran(of, redline).flatMap(atOnce))),
    remedies: (difference) => [{ ...asFarAsHeard(difference), ending: 'wait' }],
  },
  {
    reason:
      'a socket that a handler pauses is paused, also while much is sent; Node reads on when that has left',
    covers: ({ node, redline, case: of }) =>
      hearsLess(node, redline) &&
      ran(of, redline).some(pausesLast) &&
      ran(of, redline).some(needsDrain),
    remedies: (difference) => [{ ...asFarAsHeard(difference), ending: 'wait' }],
  },
  {
    reason: 'as above, in the middle of a body',
    covers: ({ node, redline, case: of }) =>
      hearsLessOfBody(node, redline) &&
      ran(of, redline).some(pausesLast) &&
      ran(of, redline).some(needsDrain),
    remedies: beforeEndOfBody,
  },
];
