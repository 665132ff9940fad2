import type { Transcript } from '../contestant.ts';
import type { Explanation } from './difference.ts';
import { asFarAsHeard, dueLeft, lineByLine } from './remedies.ts';
import {
  answersOnce,
  behindClose,
  closing,
  dropsWhatIsDue,
  framing,
  isOneShort,
  isRefusedInTurn,
  readsOn,
  refusal,
  sameRequests,
  startsAlike,
} from './transcripts.ts';

const asksForUpgrade = /^upgrade: /im;
const upgrade = /^upgrade: .*\r?\n/gim;
const closeInTrailers =
  /(?<=\n0\r?\n(?:[^\s:]+:.*\r?\n)*)(?:proxy-)?connection:.*\bclose\b.*\r?\n/gi;
const withoutVersion = /(?:GET|HEAD|POST|DELETE) +[^ \r\n\t]*\r?\n/;

/** Of bytes that are refused, and of what stands before and behind them. */
export const refusals: Explanation[] = [
  {
    reason:
      'nothing follows a response that says Connection: close, and no handler runs for it; Node sends the 400 of a listener behind it',
    covers: ({ node, redline }) =>
      closing.test(redline.bytes) &&
      node.bytes === redline.bytes + refusal &&
      node.errors.length > 0 &&
      redline.end === 'FIN' &&
      startsAlike(redline, node),
  },
  {
    reason:
      'what stands behind a request that closes is ignored; with Node a listener hears of it, and ends the connection, with what is corked and without what is due',
    covers: ({ node, redline }) =>
      node.errors.includes(behindClose) && answersOnce(redline) && sameRequests(node, redline),
    remedies: (difference) => [dueLeft(difference), asFarAsHeard(difference)],
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
    remedies: (difference) => [dueLeft(difference)],
  },
  {
    reason:
      'Connection: close within trailers says nothing of the connection; Node refuses what follows, and drops the responses that are due',
    covers: ({ node, redline, case: { bytes } }) =>
      bytes.search(closeInTrailers) >= 0 &&
      node.errors[0] === behindClose &&
      node.bytes.endsWith(refusal) &&
      redline.bytes.startsWith(node.bytes.slice(0, -refusal.length)) &&
      answersOnce(redline) &&
      startsAlike(node, redline),
    remedies: (difference) => {
      const bytes = difference.case.bytes.replaceAll(closeInTrailers, '');
      return [dueLeft({ ...difference, case: { ...difference.case, bytes } })];
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
        isAnswered &&
        redline.bytes === before + refusal &&
        isFramingRefused(node, redline) &&
        answersOnce(redline)
      );
    },
  },
  {
    reason:
      'a request whose framing is refused, behind others: Node drops the responses that are due',
    covers: ({ node, redline }) =>
      isFramingRefused(node, redline) && isRefusedInTurn(node, redline) && answersOnce(redline),
    remedies: (difference) => [dueLeft(difference)],
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
      'a request line without a version is refused, in turn; Node takes it for HTTP/0.9, and reads on',
    covers: ({ node, redline, case: { bytes } }) =>
      withoutVersion.test(bytes) &&
      redline.errors[0] === 'clientError HPE_INVALID_CONSTANT' &&
      readsOn(node, redline) &&
      answersOnce(redline) &&
      startsAlike(redline, node),
  },
  {
    reason:
      'a request line without a version is refused, in turn; Node takes it for HTTP/0.9, and drops the responses that are due',
    covers: ({ node, redline, case: { bytes } }) =>
      withoutVersion.test(bytes) &&
      redline.errors[0] === 'clientError HPE_INVALID_CONSTANT' &&
      (isRefusedInTurn(node, redline) || dropsWhatIsDue(node, redline)) &&
      answersOnce(redline) &&
      startsAlike(redline, node),
    // With a version that Node refuses as well.
    remedies: ({ case: of }) => [
      lineByLine({ ...of, bytes: of.bytes.replace(withoutVersion, 'GET / HTTP/x\r\n') }),
    ],
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
    remedies: ({ case: of }) => [lineByLine({ ...of, bytes: of.bytes.replaceAll(upgrade, '') })],
  },
];

function isFramingRefused(node: Transcript, redline: Transcript): boolean {
  return (
    node.errors[0] === framing &&
    redline.errors[0] === framing &&
    (sameRequests(node, redline) || isOneShort(redline, node))
  );
}
