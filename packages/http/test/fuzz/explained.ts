import { isDeepStrictEqual } from 'node:util';
import type { Case, Step } from './case.ts';
import type { Transcript } from './contestant.ts';

export interface Difference {
  case: Case;
  node: Transcript;
  redline: Transcript;
}

/** Differences that are meant, or that nobody can build on. Each has its reason, and covers as little as it can. */
const explained: { reason: string; covers: (difference: Difference) => boolean }[] = [
  {
    reason:
      'nothing follows a response that says Connection: close; Node sends the 400 of a listener behind it',
    covers: ({ node, redline }) =>
      /\r\nconnection: close\r\n/i.test(redline.bytes) && node.bytes === redline.bytes + refusal,
  },
  {
    reason:
      'Node lets the listener for a request behind Connection: close cut off the response that is due',
    covers: ({ node, redline }) =>
      node.errors.includes('clientError HPE_CLOSED_CONNECTION') &&
      node.bytes.endsWith(refusal) &&
      redline.bytes.startsWith(node.bytes.slice(0, -refusal.length)),
  },
  {
    reason:
      'a destroyed connection brings no more requests; Node dispatches what its parser still holds',
    covers: ({ node, redline }) =>
      node.bytes === redline.bytes &&
      node.end === redline.end &&
      redline.requests.length < node.requests.length &&
      redline.requests.every(({ request }, at) => request[0] === node.requests[at]!.request[0]),
  },
  {
    reason: 'a request line that cannot become valid is refused before its end has come',
    covers: ({ node, redline, case: { bytes } }) =>
      node.bytes === '' &&
      redline.bytes === refusal &&
      redline.requests.length === 0 &&
      /^[^\n]*\r?\n?$/.test(bytes),
  },
  {
    reason:
      'good requests before a bad one are answered, and it is refused in turn; Node drops the responses that are due',
    covers: ({ node, redline }) =>
      node.errors.length > 0 &&
      node.errors[0] === redline.errors[0] &&
      node.bytes.endsWith(refusal) &&
      /\r\nconnection: close\r\n/i.test(redline.bytes.slice(node.bytes.length - refusal.length)) &&
      redline.bytes.length > node.bytes.length - refusal.length &&
      redline.bytes.startsWith(node.bytes.slice(0, -refusal.length)) &&
      sameRequests(node, redline),
  },
  {
    reason:
      'a response that ended before its turn leaves in its turn, also when it was corked behind its end; Node keeps it forever',
    covers: ({ node, redline, case: { programs } }) =>
      isCutOff(node, redline) && programs.slice(1).some((steps) => has(steps, 'end', 'cork')),
  },
  {
    reason:
      'a response that ended and was destroyed with an error before its turn gives way to the next; Node never goes on',
    covers: ({ node, redline, case: { programs } }) =>
      (isCutOff(node, redline) || closesOnly(node, redline)) &&
      programs.slice(1).some((steps) => has(steps, 'end', 'destroyError')),
  },
  {
    reason:
      'a socket that is resumed and paused in one tick is paused; Node reads on, and hears the end of the client',
    covers: ({ node, redline, case: { ending, programs } }) =>
      ending === 'end' &&
      node.end === 'FIN' &&
      redline.end === 'open' &&
      node.bytes === redline.bytes &&
      programs.some((steps) => has(steps, 'socketResume', 'socketPause')),
  },
  {
    reason:
      'a request whose framing is refused is not answered as well, and no handler runs; Node first misses its Host, or heeds its Expect, or calls the handler',
    covers: ({ node, redline }) => {
      const framing = 'clientError HPE_INVALID_TRANSFER_ENCODING';
      const before = redline.bytes.slice(0, -refusal.length);
      const answersToo =
        /^HTTP\/1\.1 (?:100 Continue|400 Bad Request\r\nConnection: close\r\nDate: now|417 Expectation Failed)\r\n/;
      const isAnswered =
        node.bytes.startsWith(before) && answersToo.test(node.bytes.slice(before.length));
      return (
        node.errors[0] === framing &&
        redline.errors[0] === framing &&
        redline.bytes === before + refusal &&
        (isAnswered || isRefusedInTurn(node, redline)) &&
        startsAlike(redline, node) &&
        node.requests.length <= redline.requests.length + 1
      );
    },
  },
  {
    reason:
      'a request line without a version is refused, in turn; Node takes it for HTTP/0.9, reads on, and may drop the responses that are due',
    covers: ({ node, redline, case: { bytes } }) =>
      /(?:GET|HEAD|POST|DELETE) [^ \r\n\t]*(?: (?!HTTP\/)|[\r\n\t]|$)/.test(bytes) &&
      redline.errors[0] === 'clientError HPE_INVALID_CONSTANT' &&
      (isRefusedInTurn(node, redline) || readsOn(node, redline)) &&
      startsAlike(redline, node),
  },
  {
    reason:
      'a client that has ended is let go with its last response; Node looks a turn later, and what the socket writes until then leaves',
    covers: ({ node, redline, case: { ending } }) =>
      ending === 'end' &&
      redline.end === 'FIN' &&
      node.bytes.startsWith(redline.bytes) &&
      /^(?:HTTP\/1\.1 299 Raw\r\n\r\n)+$/.test(node.bytes.slice(redline.bytes.length)) &&
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
  {
    reason:
      'what follows a request for an upgrade that nobody took is read; Node drops what came in the same packet',
    covers: ({ node, redline, case: { bytes } }) =>
      /^upgrade: /im.test(bytes) &&
      node.errors.every((error) => error === 'clientError ECONNRESET') &&
      node.end === 'open' &&
      redline.bytes.startsWith(node.bytes) &&
      startsAlike(node, redline),
  },
];
const refusal = 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n';

function sameRequests(node: Transcript, redline: Transcript): boolean {
  const linesOf = ({ requests }: Transcript): unknown => requests.map(({ request }) => request[0]);
  return isDeepStrictEqual(linesOf(node), linesOf(redline));
}

/** Node sends the same, and then no more. */
function isCutOff(node: Transcript, redline: Transcript): boolean {
  return (
    redline.bytes.length > node.bytes.length &&
    redline.bytes.startsWith(node.bytes) &&
    sameRequests(node, redline)
  );
}

/** The engine ends its side behind the same bytes. */
function closesOnly(node: Transcript, redline: Transcript): boolean {
  return (
    node.end === 'open' &&
    redline.end === 'FIN' &&
    node.bytes === redline.bytes &&
    sameRequests(node, redline)
  );
}

/** The engine refuses behind what is due; Node sends the begin of that, and may refuse or wait. */
function isRefusedInTurn(node: Transcript, redline: Transcript): boolean {
  if (!redline.bytes.endsWith(refusal)) return false;
  const sent = node.bytes.endsWith(refusal) ? node.bytes.slice(0, -refusal.length) : node.bytes;
  return redline.bytes.slice(0, -refusal.length).startsWith(sent);
}

/** Node takes for good what the engine refuses. */
function readsOn(node: Transcript, redline: Transcript): boolean {
  return (
    redline.bytes.endsWith(refusal) &&
    node.bytes.startsWith(redline.bytes.slice(0, -refusal.length))
  );
}

/** All requests that the handlers of the one heard of are the first that those of the other heard of. */
function startsAlike({ requests }: Transcript, other: Transcript): boolean {
  return requests.every(({ request }, at) => request[0] === other.requests[at]?.request[0]);
}

/** The handler does one, and later the other. */
function has(steps: readonly Step[], one: Step['do'], other: Step['do']): boolean {
  const at = steps.findIndex((step) => step.do === one);
  return at >= 0 && steps.slice(at).some((step) => step.do === other);
}

/** @returns the reason, if there is one */
export function explain(difference: Difference): string | undefined {
  return explained.find(({ covers }) => covers(difference))?.reason;
}
