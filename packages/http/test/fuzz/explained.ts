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
      redline.bytes.startsWith(node.bytes.slice(0, -refusal.length)) &&
      answersOnce(redline) &&
      sameRequests(node, redline),
  },
  {
    reason:
      'a socket that is destroyed loses what it holds; Node sends that with what a listener for a request behind Connection: close ends it with',
    covers: ({ node, redline, case: { programs } }) =>
      node.errors.includes('clientError HPE_CLOSED_CONNECTION') &&
      node.bytes.endsWith(refusal) &&
      node.bytes.startsWith(redline.bytes) &&
      isRaw(node.bytes.slice(redline.bytes.length, -refusal.length)) &&
      programs.some((steps) => has(steps, 'socketWrite', 'socketDestroy')) &&
      sameRequests(node, redline),
  },
  {
    reason:
      'a destroyed connection brings no more requests; Node dispatches what its parser still holds',
    covers: ({ node, redline, case: { ending } }) =>
      node.bytes === redline.bytes &&
      node.end === redline.end &&
      (redline.end !== 'open' || ending === 'destroy') &&
      redline.requests.length < node.requests.length &&
      startsAlike(redline, node),
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
      (node.errors[0] === redline.errors[0] || redline.errors.length === 0) &&
      dropsWhatIsDue(node, redline) &&
      answersOnce(redline) &&
      (sameRequests(node, redline) || (redline.errors[0] === framing && isOneShort(redline, node))),
  },
  {
    reason:
      'a response that ended before its turn leaves in its turn, also when it was corked behind its end; Node keeps it forever',
    covers: ({ node, redline, case: { programs } }) =>
      (isCutOff(node, redline) || isCutOffAndDestroyed(node, redline)) &&
      programs.slice(1).some((steps) => has(steps, 'end', 'cork')),
  },
  {
    reason:
      'a response that ended and was destroyed with an error before its turn gives way to the next; Node never goes on',
    covers: ({ node, redline, case: { programs } }) =>
      (isCutOff(withoutRaw(node), withoutRaw(redline)) &&
        rawOf(node).length === rawOf(redline).length &&
        programs.slice(1).some(endsInError)) ||
      (closesOnly(node, redline) && endsInError(programs[node.requests.length - 1] ?? [])),
  },
  {
    reason:
      'a socket that is resumed and paused in one tick is paused; Node reads on, and hears the end of the client',
    covers: ({ node, redline, case: { ending, programs } }) =>
      ending === 'end' &&
      node.end === 'FIN' &&
      redline.end === 'open' &&
      node.bytes === redline.bytes &&
      programs.some((steps) => resumesAndPauses(steps)),
  },
  {
    reason:
      'a socket that a handler pauses is paused, also while much is sent; Node reads on, and hears the end of the client, when that has left',
    covers: ({ node, redline, case: { ending, programs } }) =>
      ending === 'end' &&
      node.end === 'FIN' &&
      redline.end === 'open' &&
      node.bytes === redline.bytes &&
      sameRequests(node, redline) &&
      programs.some((steps, at) => pauses(steps) && programs.slice(0, at + 1).some(needsDrain)),
  },
  {
    reason:
      'a client that ends behind its last request is noticed; Node reads no further if that came before the first response had left, and what waits behind it was written in one piece',
    covers: ({ node, redline, case: { ending, programs } }) => {
      const heard = programs.slice(0, node.requests.length);
      return (
        ending === 'end' &&
        closesOnly(node, redline) &&
        heard.slice(0, -1).some(needsDrain) &&
        needsDrain(heard.at(-1) ?? [])
      );
    },
  },
  {
    reason:
      'a request whose framing is refused is not answered as well, and no handler runs; Node first misses its Host, or heeds its Expect, or calls the handler',
    covers: ({ node, redline }) => {
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
        answersOnce(redline) &&
        (sameRequests(node, redline) || isOneShort(redline, node))
      );
    },
  },
  {
    reason:
      'the framing of a request for an upgrade is refused as that of any other; Node does not look at its Transfer-Encoding',
    covers: ({ node, redline, case: { bytes } }) =>
      asksForUpgrade.test(bytes) &&
      redline.errors[0] === framing &&
      !node.errors.includes(framing) &&
      readsOn(node, redline) &&
      answersOnce(redline) &&
      (sameRequests(node, redline) || isOneShort(redline, node)),
  },
  {
    reason:
      'a request line without a version is refused, in turn; Node takes it for HTTP/0.9, reads on, and may drop the responses that are due',
    covers: ({ node, redline, case: { bytes } }) =>
      /(?:GET|HEAD|POST|DELETE) +[^ \r\n\t]*\r?\n/.test(bytes) &&
      redline.errors[0] === 'clientError HPE_INVALID_CONSTANT' &&
      (isRefusedInTurn(node, redline) || readsOn(node, redline) || dropsWhatIsDue(node, redline)) &&
      answersOnce(redline) &&
      startsAlike(redline, node),
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
  {
    reason:
      'what follows a request for an upgrade that nobody took is read, and refused if it is wrong; Node drops what came in the same packet, and hides the errors of its parser',
    covers: ({ node, redline, case: { bytes, ending } }) =>
      asksForUpgrade.test(bytes) &&
      node.errors.every((error) => error === 'clientError ECONNRESET') &&
      (node.end === 'open' || ending === 'end') &&
      redline.bytes.startsWith(node.bytes) &&
      answersOnce(redline) &&
      startsAlike(node, redline),
  },
];
const framing = 'clientError HPE_INVALID_TRANSFER_ENCODING';
const asksForUpgrade = /^upgrade: /im;
const refusal = 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n';

function sameRequests(node: Transcript, redline: Transcript): boolean {
  const linesOf = ({ requests }: Transcript): unknown => requests.map(({ request }) => request[0]);
  return isDeepStrictEqual(linesOf(node), linesOf(redline));
}

/** Node sends the same, and then no more; a request that its handler paused is not read on. */
function isCutOff(node: Transcript, redline: Transcript): boolean {
  return sendsMore(node, redline) && startsAlike(node, redline);
}

/** As well; and a handler destroys the connection, which then brings no more requests. */
function isCutOffAndDestroyed(node: Transcript, redline: Transcript): boolean {
  return (
    sendsMore(node, redline) &&
    node.end !== 'open' &&
    node.end === redline.end &&
    startsAlike(redline, node)
  );
}

function sendsMore(node: Transcript, redline: Transcript): boolean {
  return (
    redline.bytes.length > node.bytes.length &&
    redline.bytes.startsWith(node.bytes) &&
    answersOnce(redline)
  );
}

/** What steps `socketWrite` wrote, and nothing else. */
function isRaw(bytes: string): boolean {
  return bytes !== '' && bytes.replaceAll(raw, '') === '';
}

/** Sockets take it when it is written, whoever's turn it is. */
function withoutRaw(transcript: Transcript): Transcript {
  return { ...transcript, bytes: transcript.bytes.replaceAll(raw, '') };
}

function rawOf({ bytes }: Transcript): unknown[] {
  return bytes.match(new RegExp(raw, 'g')) ?? [];
}
const raw = 'HTTP/1.1 299 Raw\r\n\r\n';

/** No handler has answered more than once: 400 and 417 are the server's own. */
function answersOnce({ bytes, requests }: Transcript): boolean {
  const answers = bytes.match(/HTTP\/1\.1 (?!1\d\d |299 |400 |417 )\d{3} /g) ?? [];
  return answers.length <= requests.length;
}

/** No handler hears of the request that is refused. */
function isOneShort(redline: Transcript, node: Transcript): boolean {
  return startsAlike(redline, node) && node.requests.length === redline.requests.length + 1;
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

/** Node refuses before all is sent that is due. The engine sends it, up to a response that closes or is the refusal. */
function dropsWhatIsDue(node: Transcript, redline: Transcript): boolean {
  if (!node.bytes.endsWith(refusal) || redline.end !== 'FIN') return false;
  const sent = node.bytes.slice(0, -refusal.length);
  const closes = /\r\nconnection: close\r\n/i;
  return redline.bytes.startsWith(sent) && closes.test(redline.bytes.slice(sent.length));
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

function endsInError(steps: readonly Step[]): boolean {
  return has(steps, 'end', 'destroyError');
}

/** Without a tick in between. */
function resumesAndPauses(steps: readonly Step[]): boolean {
  return steps.some((step, at) => {
    if (step.do !== 'socketResume') return false;
    const next = steps.slice(at).find(({ do: what }) => waits.has(what) || what === 'socketPause');
    return next?.do === 'socketPause';
  });
}
const waits = new Set<Step['do']>(['tick', 'immediate', 'timeout', 'readAll']);

function pauses(steps: readonly Step[]): boolean {
  const last = steps.findLast((step) => step.do === 'socketPause' || step.do === 'socketResume');
  return last?.do === 'socketPause';
}

function needsDrain(steps: readonly Step[]): boolean {
  return steps.some((step) => step.do === 'write' && step.bytes > 65_536);
}

/** @returns the reason, if there is one */
export function explain(difference: Difference): string | undefined {
  return explained.find(({ covers }) => covers(difference))?.reason;
}
