/** Node's own tests that the engine fails: file, then the reason. The package's README tells its users of each. */
export const differences: Readonly<Record<string, string>> = {
  'parallel/test-http-blank-header.js':
    'A refusal takes its turn behind the responses that are due; this test never gives the first.',
  'parallel/test-http-dump-req-when-res-ends.js': 'Looks at the parser of the socket.',
  'parallel/test-http-header-overflow.js':
    'Puts bytes into the socket by socket.push(); the bytes are the engine’s.',
  'parallel/test-http-parser-freed-before-upgrade.js': 'Looks at the parser of the socket.',
  'parallel/test-http-parser-memory-retention.js': 'Looks at the parser of the socket.',
  'parallel/test-http-pipeline-socket-parser-typeerror.js':
    'Goes on until outputSize, which is not documented, has grown by responses that have ended before their turn.',
  'parallel/test-http-req-close-robust-from-tampering.js':
    'Calls the internal _events of a socket.',
  'parallel/test-http-server-connection-list-when-close.js': 'Looks at the parser of the socket.',
  'parallel/test-http-server-keepalive-end.js': 'Looks at the parser of the socket.',
  'parallel/test-http-server-unconsume.js':
    'Listens to "data" of the socket; the bytes are the engine’s.',
  'parallel/test-http-transfer-encoding-repeated-chunked.js':
    'Node runs the handler before it refuses the framing; the engine refuses it first.',
  'async-hooks/test-graph.http.js': 'Looks at the graph of internal asynchronous resources.',
};
