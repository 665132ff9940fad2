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
  'an error after a good request leaves its answer whole': inTurn,
  'an error while an answer is due': inTurn,
  'a bad request after a good one': inTurn,
  'more than said': inTurn,
  'more than said, after Connection: close': inTurn,
  RTSP: 'Node answers RTSP as if it were HTTP; the engine refuses it.',
};
