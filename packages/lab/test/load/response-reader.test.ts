import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request as httpRequest } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { finished } from 'node:stream/promises';
import { describe, test } from 'node:test';
import { MalformedResponseError, ResponseReader } from '../../src/load/response-reader.ts';

interface Sent {
  bytes: string;
  method?: 'GET' | 'HEAD' | 'POST';
  /** True if the server closes the connection after it. */
  ends?: boolean;
}

const complete: Record<string, Sent> = {
  'a length': { bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello' },
  'a length of zero': { bytes: 'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n' },
  'a length after white space': { bytes: 'HTTP/1.1 200 OK\r\nCONTENT-LENGTH: \t2 \r\n\r\nok' },
  'a length without white space': { bytes: 'HTTP/1.1 200 OK\r\ncontent-length:2\r\n\r\nok' },
  'a body that looks like a head': {
    bytes:
      'HTTP/1.1 200 OK\r\nContent-Length: 38\r\n\r\nHTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n',
  },
  'no reason': { bytes: 'HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok' },
  'an empty reason': { bytes: 'HTTP/1.1 503 \r\nContent-Length: 2\r\n\r\nok' },
  'a reason of bytes above ASCII': {
    bytes: 'HTTP/1.1 200 \xe9t\xe9\r\nContent-Length: 2\r\n\r\nok',
  },
  'an empty field': { bytes: 'HTTP/1.1 200 OK\r\nX-Empty:\r\nContent-Length: 2\r\n\r\nok' },
  'an empty line before it': { bytes: '\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok' },
  chunks: {
    bytes:
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nA\r\n0123456789\r\n0\r\n\r\n',
  },
  'chunks with leading zeros': {
    bytes: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0002\r\nok\r\n000\r\n\r\n',
  },
  'chunks with extensions': {
    bytes:
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;a=b;c="d"\r\nok\r\n0;last\r\n\r\n',
  },
  'chunks with trailers': {
    bytes:
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\nX-Time: 2\r\n\r\n',
  },
  'no chunk but the last': {
    bytes: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n0\r\n\r\n',
  },
  'chunks of a compressed body': {
    bytes: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
  },
  'no content': { bytes: 'HTTP/1.1 204 No Content\r\n\r\n' },
  'no content, with a length': { bytes: 'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n' },
  'no change, with a length': { bytes: 'HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n' },
  'no change, with chunks': {
    bytes: 'HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n',
  },
  'a head alone': { method: 'HEAD', bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n' },
  'a head alone, of chunks': {
    method: 'HEAD',
    bytes: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
  },
  'an interim response before it': {
    bytes:
      'HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
  },
  'two interim responses before it': {
    bytes:
      'HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok',
  },
  'a connection that closes': {
    ends: true,
    bytes: 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok',
  },
  'a connection that closes, among other options': {
    ends: true,
    bytes:
      'HTTP/1.1 200 OK\r\nConnection: foo\r\nConnection: Close, bar\r\nContent-Length: 2\r\n\r\nok',
  },
  'a connection that closes, without a body': {
    ends: true,
    bytes: 'HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n',
  },
  'a connection that closes after chunks': {
    ends: true,
    bytes:
      'HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
  },
  'a connection kept by HTTP/1.0': {
    bytes: 'HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok',
  },
  'a connection that HTTP/1.0 closes': {
    ends: true,
    bytes: 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok',
  },
  'a body until the connection closes': {
    ends: true,
    bytes: 'HTTP/1.1 200 OK\r\n\r\nas long as it takes',
  },
  'an empty body until the connection closes': { ends: true, bytes: 'HTTP/1.0 500 No\r\n\r\n' },
  'a compressed body until the connection closes': {
    ends: true,
    bytes: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n0\r\n\r\n',
  },
};

const malformed: Record<string, Sent> = {
  'no status line': { bytes: 'hello, this is no HTTP\r\n\r\n' },
  'another protocol': { bytes: 'SMTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n' },
  'a status of two digits': { bytes: 'HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n' },
  'lines that end in LF': { bytes: 'HTTP/1.1 200 OK\nContent-Length: 2\n\nok' },
  'a line that ends in CR': { bytes: 'HTTP/1.1 200 OK\r\nX-A: b\rContent-Length: 2\r\n\r\nok' },
  'a field without a colon': { bytes: 'HTTP/1.1 200 OK\r\nContent-Length 2\r\n\r\nok' },
  'a field without a name': { bytes: 'HTTP/1.1 200 OK\r\n: 2\r\n\r\nok' },
  'white space in a name': { bytes: 'HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nok' },
  'a zero byte in a value': { bytes: 'HTTP/1.1 200 OK\r\nX-A: \0\r\nContent-Length: 2\r\n\r\nok' },
  'a length in words': { bytes: 'HTTP/1.1 200 OK\r\nContent-Length: two\r\n\r\nok' },
  'a length below zero': { bytes: 'HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nok' },
  'an empty length': { bytes: 'HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\nok' },
  'two lengths': { bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok!' },
  'a length and chunks': {
    bytes:
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
  },
  'no chunk size': { bytes: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nno\r\nok\r\n' },
  'a chunk longer than its size': {
    bytes: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nokay\r\n0\r\n\r\n',
  },
  'a chunk that ends in LF': {
    bytes: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\n0\r\n\r\n',
  },
  'a trailer without a colon': {
    bytes: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nSum\r\n\r\n',
  },
  'another protocol in its place': {
    bytes: 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: foo\r\n\r\n',
  },
  'a head without an end': { bytes: `HTTP/1.1 200 OK\r\nX-A: ${'a'.repeat(100_000)}` },
};

const cut: Record<string, Sent> = {
  'in the head': { ends: true, bytes: 'HTTP/1.1 200 OK\r\nContent-Le' },
  'after the head': { ends: true, bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n' },
  'in the body': { ends: true, bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel' },
  'in a chunk': {
    ends: true,
    bytes: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel',
  },
  'before the last chunk': {
    ends: true,
    bytes: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n',
  },
  'before the end of the trailers': {
    ends: true,
    bytes: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\n',
  },
};

/** Response to a second request on the connection: a reader that is wrong about the end of the first does not find it. */
const second = 'HTTP/1.1 299 Second\r\nContent-Length: 6\r\n\r\nsecond';

describe('a reader of responses finds', () => {
  for (const [name, sent] of Object.entries(complete)) {
    test(name, async () => {
      const { status, closes } = await readByNode(sent);
      assert.equal(typeof status, 'number', String(status));
      const expected = { statuses: closes ? [status] : [status, 299], isClosed: closes };
      const bytes = Buffer.from(sent.ends ? sent.bytes : sent.bytes + second, 'latin1');
      assert.deepEqual(readBySplits(sent, bytes), [expected]);
    });
  }

  test('several in one chunk, of requests with and without a body', () => {
    const sent = Object.values(complete).filter(({ ends }) => ends !== true);
    const bytes = Buffer.from(sent.map((each) => each.bytes).join(''), 'latin1');
    const methods = sent.map(({ method = 'GET' }) => method);
    const { statuses } = read([bytes], methods);
    assert.equal(statuses.length, sent.length);
    for (let at = 1; at < bytes.length; at++) {
      const chunks = [bytes.subarray(0, at), bytes.subarray(at)];
      assert.deepEqual(read(chunks, methods).statuses, statuses, `split at ${at}`);
    }
  });
});

describe('a reader of responses refuses', () => {
  for (const [name, sent] of Object.entries(malformed)) {
    test(name, async () => {
      const { status } = await readByNode(sent);
      assert.equal(status, 'error');
      const bytes = Buffer.from(sent.bytes, 'latin1').subarray(0, 17_000);
      for (const outcome of readBySplits(sent, bytes)) assert.equal(outcome, 'malformed');
    });
  }

  test('a response without a request', () => {
    const bytes = Buffer.from(complete['a length']!.bytes.repeat(2));
    assert.throws(() => read([bytes], ['GET']), MalformedResponseError);
  });
});

describe('a reader of responses does not complete one that is cut', () => {
  for (const [name, sent] of Object.entries(cut)) {
    test(name, async () => {
      const { status } = await readByNode(sent);
      assert.equal(status, 'error');
      const outcomes = readBySplits(sent, Buffer.from(sent.bytes));
      assert.deepEqual(outcomes, [{ statuses: [], isClosed: false }]);
    });
  }
});

interface Outcome {
  statuses: number[];
  isClosed: boolean;
}

/** Returns the distinct outcomes of the bytes in one chunk, in two that are split at any place, and one by one. */
function readBySplits({ method = 'GET', ends }: Sent, bytes: Buffer): (Outcome | 'malformed')[] {
  const splits = [[bytes], Array.from(bytes, (_, at) => bytes.subarray(at, at + 1))];
  for (let at = 1; at < Math.min(bytes.length, 500); at++) {
    splits.push([bytes.subarray(0, at), bytes.subarray(at)]);
  }
  const outcomes = splits.map((chunks): Outcome | 'malformed' => {
    try {
      return read(chunks, [method, 'GET'], ends);
    } catch (error) {
      assert.ok(error instanceof MalformedResponseError, String(error));
      return 'malformed';
    }
  });
  const distinct = new Map(outcomes.map((outcome) => [JSON.stringify(outcome), outcome]));
  return [...distinct.values()];
}

function read(chunks: readonly Buffer[], methods: readonly string[], ends = false): Outcome {
  const pending = methods.map((method) => ({ isHead: method === 'HEAD' }));
  const statuses: number[] = [];
  const reader = new ResponseReader(
    () => pending[0],
    (status) => {
      pending.shift();
      statuses.push(status);
    },
  );
  // One buffer for all reads, as a socket has.
  const buffer = Buffer.alloc(Math.max(...chunks.map(({ length }) => length)));
  for (const chunk of chunks) {
    chunk.copy(buffer);
    reader.read(buffer.subarray(0, chunk.length));
    buffer.fill('x');
  }
  if (ends) reader.end();
  return { statuses, isClosed: reader.isClosed };
}

/** Returns the status node:http reads, and whether it sends the next request on another connection. */
async function readByNode({ bytes, method = 'GET', ends }: Sent): Promise<{
  status: number | 'error';
  closes: boolean;
}> {
  let connections = 0;
  let requests = 0;
  const server = createServer((socket) => {
    connections++;
    socket.on('error', () => {});
    socket.on('data', () => {
      requests++;
      if (requests > 1) socket.write(second);
      else if (ends) socket.end(bytes, 'latin1');
      else socket.write(bytes, 'latin1');
    });
  }).listen(0, '127.0.0.1');
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  try {
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const status = await ask({ port, agent, method });
    if (status !== 'error') assert.equal(await ask({ port, agent }), 299);
    return { status, closes: connections > 1 };
  } finally {
    agent.destroy();
    server.close();
  }
}

async function ask(options: {
  port: number;
  agent: Agent;
  method?: string;
}): Promise<number | 'error'> {
  const request = httpRequest({ host: '127.0.0.1', ...options });
  request.on('error', () => {});
  request.end();
  try {
    // After 101 it is closed, without an error or a response.
    const closed = once(request, 'close').then(() => []);
    const [response] = (await Promise.race([
      once(request, 'response'),
      closed,
    ])) as IncomingMessage[];
    if (response === undefined) return 'error';
    await finished(response.resume());
    return response.statusCode!;
  } catch {
    return 'error';
  }
}
