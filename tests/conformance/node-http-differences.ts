/** Node's own tests that the engine fails: file, then the reason. The package's README tells its users of each. */
export const differences: Readonly<Record<string, string>> = {
  'parallel/test-domain-multi.js':
    'To be mended: a write callback runs in another domain than the one it was given in.',
  'parallel/test-http-blank-header.js':
    'A refusal takes its turn behind the responses that are due; this test never gives the first.',
  'parallel/test-http-dump-req-when-res-ends.js': 'Looks at the parser of the socket.',
  'parallel/test-http-header-overflow.js':
    'Puts bytes into the socket by socket.push(); the bytes are the engine’s.',
  'parallel/test-http-parser-freed-before-upgrade.js': 'Looks at the parser of the socket.',
  'parallel/test-http-parser-memory-retention.js': 'Looks at the parser of the socket.',
  'parallel/test-http-pipeline-socket-parser-typeerror.js':
    'To be mended: outputSize of a response stays 0.',
  'parallel/test-http-remove-connection-header-persists-connection.js':
    'To be mended: writableEnded of the socket at "finish" of a response that closes.',
  'parallel/test-http-remove-header-stays-removed.js':
    'To be mended: writableEnded of the socket at "finish" of a response that closes.',
  'parallel/test-http-req-close-robust-from-tampering.js':
    'Calls the internal _events of a socket.',
  'parallel/test-http-server-connection-list-when-close.js': 'Looks at the parser of the socket.',
  'parallel/test-http-server-keepalive-end.js': 'Looks at the parser of the socket.',
  'parallel/test-http-server-options-highwatermark.js': 'Looks at a private symbol of a response.',
  'parallel/test-http-server-unconsume.js':
    'Listens to "data" of the socket; the bytes are the engine’s.',
  'parallel/test-http-socket-error-listeners.js':
    'To be mended: "clientError" comes once, with Node for every further chunk.',
  'parallel/test-http-transfer-encoding-repeated-chunked.js':
    'Node runs the handler before it refuses the framing; the engine refuses it first.',
  'async-hooks/test-graph.http.js': 'Looks at the graph of internal asynchronous resources.',
};
