import { isDeepStrictEqual } from 'node:util';
import type { Transcript } from '../contestant.ts';

/** What one transcript has that the other has not. */

export const framing = 'clientError HPE_INVALID_TRANSFER_ENCODING';
export const behindClose = 'clientError HPE_CLOSED_CONNECTION';
/** Of a write behind the end of the socket, which destroys it. */
export const afterEnd = 'clientError ERR_STREAM_WRITE_AFTER_END';
export const closing = /\r\nconnection: close\r\n/i;
export const refusal = 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n';
const raw = 'HTTP/1.1 299 Raw\r\n\r\n';

export function sameRequests(node: Transcript, redline: Transcript): boolean {
  const linesOf = ({ requests }: Transcript): unknown => requests.map(({ request }) => request[0]);
  return isDeepStrictEqual(linesOf(node), linesOf(redline));
}

/** All requests that the handlers of the one heard of are the first that those of the other heard of. */
export function startsAlike({ requests }: Transcript, other: Transcript): boolean {
  return requests.every(({ request }, at) => request[0] === other.requests[at]?.request[0]);
}

/** No handler hears of the request that is refused. */
export function isOneShort(redline: Transcript, node: Transcript): boolean {
  return startsAlike(redline, node) && node.requests.length === redline.requests.length + 1;
}

/** No handler has answered more than once. */
export function answersOnce({ bytes, requests }: Transcript): boolean {
  return answersOf(bytes) <= requests.length;
}

/** Those of handlers: 400 and 417 are the server's own. */
function answersOf(bytes: string): number {
  return bytes.match(/HTTP\/1\.1 (?!1\d\d |299 |400 |417 )\d{3} /g)?.length ?? 0;
}

/** Node sends the same, and then no more; a request that its handler paused is not read on. */
export function isCutOff(node: Transcript, redline: Transcript): boolean {
  return sendsMore(node, redline) && startsAlike(node, redline);
}

/** The engine sends the same, and then more. */
export function sendsMore(node: Transcript, redline: Transcript): boolean {
  return (
    redline.bytes.length > node.bytes.length &&
    redline.bytes.startsWith(node.bytes) &&
    answersOnce(redline)
  );
}

/** The engine ends its side behind the same bytes. */
export function closesOnly(node: Transcript, redline: Transcript): boolean {
  return (
    node.end === 'open' &&
    redline.end === 'FIN' &&
    node.bytes === redline.bytes &&
    sameRequests(node, redline)
  );
}

/** The same, but for Node, which goes on: it may hear more requests, whose handlers may write to the socket and end it. */
export function closesFirst(node: Transcript, redline: Transcript): boolean {
  return (
    redline.end === 'FIN' &&
    withoutRaw(node).bytes === withoutRaw(redline).bytes &&
    startsAlike(redline, node)
  );
}

/** The engine, which is still connected, has heard less of the client: fewer of its requests, or not of its end. */
export function hearsLess(node: Transcript, redline: Transcript): boolean {
  if (redline.end !== 'open' || !node.bytes.startsWith(redline.bytes)) return false;
  if (sameRequests(node, redline)) return node.end === 'FIN' && node.bytes === redline.bytes;
  return startsAlike(redline, node);
}

/** The engine, which is still connected, has not heard the end of the last body. */
export function hearsLessOfBody(node: Transcript, redline: Transcript): boolean {
  return (
    redline.end === 'open' &&
    node.bytes.startsWith(redline.bytes) &&
    sameRequests(node, redline) &&
    node.requests.at(-1)?.request.includes('end') === true &&
    redline.requests.at(-1)?.request.includes('end') === false
  );
}

/** Node, which is still connected, reads no further; the engine has heard of more requests. */
export function hearsMore(node: Transcript, redline: Transcript): boolean {
  return (
    node.end === 'open' &&
    redline.bytes.startsWith(node.bytes) &&
    startsAlike(node, redline) &&
    node.requests.length < redline.requests.length
  );
}

/** What steps `socketWrite` wrote, and nothing else. */
export function isRaw(bytes: string): boolean {
  return bytes !== '' && bytes.replaceAll(raw, '') === '';
}

/** Sockets take it when it is written, whoever's turn it is. */
export function withoutRaw(transcript: Transcript): Transcript {
  return { ...transcript, bytes: transcript.bytes.replaceAll(raw, '') };
}

function rawOf({ bytes }: Transcript): unknown[] {
  return bytes.match(new RegExp(raw, 'g')) ?? [];
}

/** As {@link isCutOff}, of two that have written the same beside their turns. */
export function isCutOffButForRaw(node: Transcript, redline: Transcript): boolean {
  return (
    isCutOff(withoutRaw(node), withoutRaw(redline)) && rawOf(node).length === rawOf(redline).length
  );
}

/** The engine refuses behind what is due; Node sends the begin of that, and may refuse or wait. */
export function isRefusedInTurn(node: Transcript, redline: Transcript): boolean {
  if (!redline.bytes.endsWith(refusal)) return false;
  const sent = node.bytes.endsWith(refusal) ? node.bytes.slice(0, -refusal.length) : node.bytes;
  return redline.bytes.slice(0, -refusal.length).startsWith(sent);
}

/** Node refuses before all is sent that is due. The engine sends it, up to a response that closes or is the refusal. */
export function dropsWhatIsDue(node: Transcript, redline: Transcript): boolean {
  if (!node.bytes.endsWith(refusal) || redline.end !== 'FIN') return false;
  const sent = node.bytes.slice(0, -refusal.length);
  return redline.bytes.startsWith(sent) && closing.test(redline.bytes.slice(sent.length));
}

/** Node takes for good what the engine refuses: behind whole responses, one to each request whose handler is done. */
export function readsOn(node: Transcript, redline: Transcript): boolean {
  if (!redline.bytes.endsWith(refusal)) return false;
  const before = redline.bytes.slice(0, -refusal.length);
  const rest = node.bytes.slice(before.length);
  return (
    node.bytes.startsWith(before) &&
    (rest === '' || rest.startsWith('HTTP/1.1 ')) &&
    answersOf(before) === redline.requests.filter(({ steps }) => steps.length > 0).length
  );
}
