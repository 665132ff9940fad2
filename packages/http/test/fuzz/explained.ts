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
      node.end === 'open' &&
      isCutOff(node, redline) &&
      programs.slice(1).some((steps) => has(steps, 'end', 'cork')),
  },
  {
    reason:
      'a response that ended and was destroyed with an error before its turn gives way to the next; Node never goes on',
    covers: ({ node, redline, case: { programs } }) =>
      node.end === 'open' &&
      isCutOff(node, redline) &&
      programs.slice(1).some((steps) => has(steps, 'end', 'destroyError')),
  },
  {
    reason:
      'a client that ends is noticed while much waits behind the first response; Node reads no further then',
    covers: ({ node, redline, case: { ending, programs } }) =>
      ending === 'end' &&
      node.end === 'open' &&
      redline.end === 'FIN' &&
      node.bytes === redline.bytes &&
      programs.slice(1, -1).some((steps) => written(steps) > 65_536),
  },
  {
    reason:
      'a request whose framing is refused is not answered as well; Node first misses its Host',
    covers: ({ node, redline }) => {
      const framing = 'clientError HPE_INVALID_TRANSFER_ENCODING';
      const missesHost = /^HTTP\/1\.1 400 Bad Request\r\nConnection: close\r\nDate: now\r\n/;
      const before = redline.bytes.slice(0, -refusal.length);
      return (
        node.errors[0] === framing &&
        redline.errors[0] === framing &&
        redline.bytes === before + refusal &&
        node.bytes.startsWith(before) &&
        missesHost.test(node.bytes.slice(before.length)) &&
        sameRequests(node, redline)
      );
    },
  },
  {
    reason: 'a request line without a version is refused; Node takes it for HTTP/0.9',
    covers: ({ node, redline, case: { bytes } }) =>
      /^(?:GET|HEAD|POST|DELETE) [^ \r\n]*\r?\n/m.test(bytes) &&
      redline.errors[0] === 'clientError HPE_INVALID_CONSTANT' &&
      redline.bytes.endsWith(refusal) &&
      node.bytes.startsWith(redline.bytes.slice(0, -refusal.length)),
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

function written(steps: readonly Step[]): number {
  return steps.reduce((sum, step) => sum + (step.do === 'write' ? step.bytes : 0), 0);
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
