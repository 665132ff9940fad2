const inTurn =
  'Node refuses at once and drops responses that are due, so that the client takes the refusal for one of them; the engine refuses in turn.';

/** Where the engine is stricter than Node on purpose: behaviour, then the reason. */
export const exceptions: Record<string, string> = {
  'no version': 'HTTP/0.9 has no headers, so nothing can be told apart; the engine refuses it.',
  'version 0.9': 'Node answers a version without meaning; the engine refuses it.',
  'version 2.0': 'HTTP/2 is not spoken in this form; Node answers it as if it were 1.1.',
  'ICE and SOURCE':
    'Node answers the protocol of Icecast as if it were HTTP; the engine refuses it.',
  'a Content-Disposition cannot end its line':
    'Node decodes the value and cuts its characters to a byte each: two of them can be a line end. The engine sends its bytes.',
  'a trailer that is Connection: close':
    'Node takes it for a field of the head, and refuses the next request although its response says keep-alive; the engine answers it.',
  'an error after a good request leaves its answer whole': inTurn,
  'an error while an answer is due': inTurn,
  'a bad request after a good one': inTurn,
  'more than said': inTurn,
  'more than said, after Connection: close': inTurn,
  RTSP: 'Node answers RTSP as if it were HTTP; the engine refuses it.',
};

/** Where Node 22 differs from Node 24, which the engine behaves like there. */
const changed: Record<string, { reason: string; behaviours: string[] }[]> = {
  22: [
    {
      reason: 'Node 22 calls the callback of `end` behind "finish".',
      behaviours: [
        'a body is over when the next handler has been called',
        'a response goes on behind the trailers of a request, before the next request',
        'a response in parts, before its turn',
        'a response whose turn is not yet goes with the first, which is destroyed',
        'a response whose turn is not yet goes with the socket that ends',
        'a second end behind the end of the connection',
        'a stream goes on behind the body of a request, before the next request',
        'an informational response of one that was destroyed before its turn',
        'an informational response whose turn is not yet goes with the socket that ends',
        'finish and close of a response, in order',
        'from the first trailers on promises go on before each request',
        'promises go on before a body is over',
        'promises go on behind the body of a request, before the next request',
        'the end of the connection behind a whole response',
        'the next request of a body has its turn when the first is finished',
        'writes behind another answer call back in their turn',
      ],
    },
    {
      reason:
        'Node 22 does not tell the later responses of a pipeline that the connection is gone.',
      behaviours: ['an abort of one of several pipelined requests'],
    },
    {
      reason: 'Node 22 knows no optimizeEmptyRequests.',
      behaviours: ['optimizeEmptyRequests, neither length nor encoding'],
    },
    {
      reason:
        'Node 22 takes a reset that comes in the turn of half a request for the end of that request (HPE_INVALID_EOF_STATE).',
      behaviours: ['clientError of a reset'],
    },
    {
      reason:
        'Node 22 calls back without an error, and says "finish", when the connection ends before the bytes have left.',
      behaviours: ['the end of the connection while bytes wait'],
    },
    {
      reason:
        'Node 22 cannot close a server one of whose sockets was sent behind its first request: close() throws a TypeError.',
      behaviours: ['the second request of a connection is sent, the first was answered'],
    },
  ],
};

const [major] = process.versions.node.split('.');

/** The behaviours that differ from those of a line of Node: on purpose, or because it has changed. */
export function differOn(line: string): string[] {
  const newer = (changed[line] ?? []).flatMap(({ behaviours }) => behaviours);
  return [...Object.keys(exceptions), ...newer];
}

/** @returns why the Node that runs this does otherwise, if it does */
export function reasonOnThisNode(behaviour: string): string | undefined {
  return changed[major!]?.find(({ behaviours }) => behaviours.includes(behaviour))?.reason;
}
