import type { Difference, Explanation } from './difference.ts';
import {
  destroys,
  endsInError,
  has,
  needsDrain,
  pauses,
  ran,
  threwAtEnd,
  writesRaw,
} from './programs.ts';
import { uncorked, withoutBehindEnd } from './remedies.ts';
import {
  afterEnd,
  behindClose,
  closesFirst,
  closesOnly,
  closing,
  hearsMore,
  isCutOff,
  isCutOffButForRaw,
  isRaw,
  refusal,
  sameRequests,
  sendsMore,
  startsAlike,
  withoutRaw,
} from './transcripts.ts';

/** Fewer requests than Node's, for a reason of their own. */
function mayHearLess({ node, redline, case: of }: Difference): boolean {
  if (!startsAlike(redline, node)) return false;
  // Destroyed by a handler: it brings no more requests.
  if (redline.end !== 'open' && redline.end === node.end) return true;
  // What Node keeps says that the connection closes.
  if (redline.end === 'FIN' && closing.test(redline.bytes.slice(node.bytes.length))) return true;
  // A response behind it destroys the connection. With Node its turn never comes.
  if (redline.end !== 'open') {
    return node.end === 'open' && ran(of, redline).slice(1).some(destroys);
  }
  // A paused socket, on which Node reads on when much has left.
  return node.end === 'open' && of.programs.some(pauses) && of.programs.some(needsDrain);
}

/** Of what is left when a response or a connection ends. */
export const endings: Explanation[] = [
  {
    reason:
      'a socket that is destroyed loses what it holds; Node sends that with what a listener for a request behind Connection: close ends it with',
    covers: ({ node, redline, case: of }) =>
      node.errors.includes(behindClose) &&
      node.bytes.endsWith(refusal) &&
      node.bytes.startsWith(redline.bytes) &&
      isRaw(node.bytes.slice(redline.bytes.length, -refusal.length)) &&
      ran(of, redline).some(writesRaw) &&
      ran(of, redline).some(destroys) &&
      sameRequests(node, redline),
  },
  {
    reason:
      'a destroyed connection brings no more requests; Node dispatches what its parser still holds',
    covers: ({ node, redline, case: of }) =>
      node.bytes === redline.bytes &&
      node.end === redline.end &&
      (of.ending === 'destroy' ||
        (redline.end !== 'open' &&
          (ran(of, redline).some(destroys) || redline.errors.includes(afterEnd)))) &&
      redline.requests.length < node.requests.length &&
      startsAlike(redline, node),
  },
  {
    reason:
      'no handler runs for what stands behind a response that says Connection: close; Node runs it, and drops its response',
    covers: ({ node, redline }) =>
      node.bytes === redline.bytes &&
      node.end === 'FIN' &&
      redline.end === 'FIN' &&
      closing.test(redline.bytes) &&
      redline.requests.length < node.requests.length &&
      startsAlike(redline, node),
  },
  {
    reason:
      'a response that ended before its turn leaves in its turn, also when it was corked behind its end; Node keeps it forever',
    covers: (difference) => {
      const { node, redline, case: of } = difference;
      return (
        (isCutOff(node, redline) ||
          isCutOffButForRaw(node, redline) ||
          (sendsMore(node, redline) && mayHearLess(difference))) &&
        of.programs.slice(1).some((steps) => has(steps, 'end', 'cork'))
      );
    },
    remedies: ({ case: of }) => [withoutBehindEnd(of, 'cork')],
  },
  {
    reason:
      'a response that ended and was destroyed with an error before its turn gives way to the next, or to the end of the connection; Node never goes on',
    covers: ({ node, redline, case: of }) =>
      ran(of, node).slice(1).some(endsInError) &&
      (closesFirst(node, redline) ||
        isCutOffButForRaw(node, redline) ||
        // Whose turn it is may destroy the connection.
        (sendsMore(withoutRaw(node), withoutRaw(redline)) &&
          startsAlike(redline, node) &&
          redline.end !== 'open' &&
          ran(of, redline).some(destroys)) ||
        // Its end is also the end of a pause of the socket: the engine reads on.
        (hearsMore(node, redline) && ran(of, node).some(pauses))),
    remedies: ({ case: of }) => [withoutBehindEnd(of, 'destroyError')],
  },
  {
    reason:
      'what a client sends to a socket that a handler pauses may be with the engine when the socket is destroyed; Node leaves it unread, and the kernel resets',
    covers: ({ node, redline, case: of }) =>
      node.end === 'reset' &&
      redline.end === 'FIN' &&
      node.bytes === redline.bytes &&
      sameRequests(node, redline) &&
      ran(of, redline).some(pauses) &&
      ran(of, redline).some(destroys),
  },
  {
    reason:
      'what a client sends while too much waits for its turn may be with the engine when the last response ends the connection; Node leaves it unread, and the kernel resets, and drops what the client has not read',
    covers: ({ node, redline, case: of }) =>
      node.end === 'reset' &&
      redline.end === 'FIN' &&
      redline.bytes.startsWith(node.bytes) &&
      sameRequests(node, redline) &&
      ran(of, redline).slice(1).some(needsDrain),
  },
  {
    reason: 'an end that throws leaves the socket as it was; Node leaves it corked',
    covers: ({ node, redline, case: of }) =>
      threwAtEnd(of, node) &&
      threwAtEnd(of, redline) &&
      node.end === redline.end &&
      sendsMore(node, redline) &&
      sameRequests(node, redline),
    remedies: (difference) => [uncorked(difference)],
  },
  {
    reason:
      'a client that ends behind its last request is noticed; Node reads no further if that came before the first response had left, and what waits behind it was written in one piece',
    covers: ({ node, redline, case: of }) =>
      of.ending === 'end' &&
      closesOnly(node, redline) &&
      ran(of, node).slice(0, -1).some(needsDrain) &&
      needsDrain(ran(of, node).at(-1) ?? []),
  },
  {
    reason:
      'a client that has ended is let go with its last response; Node looks a turn later, and what the socket writes until then leaves',
    covers: ({ node, redline, case: { ending } }) =>
      ending === 'end' &&
      redline.end === 'FIN' &&
      node.bytes.startsWith(redline.bytes) &&
      isRaw(node.bytes.slice(redline.bytes.length)) &&
      sameRequests(node, redline),
  },
  {
    reason:
      'a client that has ended is let go with its last response; Node looks a turn later, and a socket that is paused by then is not read',
    covers: ({ node, redline, case: { ending, programs } }) =>
      ending === 'end' &&
      closesOnly(node, redline) &&
      programs.some((steps) => has(steps, 'end', 'socketPause')),
  },
];
