import type { Difference } from './compare.ts';

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
];
const refusal = 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n';

/** @returns the reason, if there is one */
export function explain(difference: Difference): string | undefined {
  return explained.find(({ covers }) => covers(difference))?.reason;
}
