/** Max size of a head, a chunk's size with its extensions, or a trailer: that of a head in node:http. */
const maxTextBytes = 16_384;
const [carriageReturn, lineFeed] = [0x0d, 0x0a];
const nothing = Buffer.alloc(0);

/** The server sent bytes that are not a valid HTTP response, or that answer none of the requests. */
export class MalformedResponseError extends Error {
  override readonly name = 'MalformedResponseError';
}

type State =
  | 'head'
  | 'body'
  | 'body until close'
  | 'chunk size'
  | 'chunk'
  | 'chunk CR'
  | 'chunk LF'
  | 'trailers'
  | 'closed';

interface Head {
  readonly status: number;
  /** State in which the body begins, or the body's length. */
  readonly body: number | 'chunk size' | 'body until close';
  /** True if the server takes no further request on the connection. */
  readonly closes: boolean;
}

/**
 * Reads the responses of one HTTP/1.1 connection (RFC 9112) as their bytes come, and drops bodies and fields. It keeps no reference
 * to the bytes, so that all reads of a socket may use one buffer.
 */
export class ResponseReader {
  readonly #oldestRequest: () => { readonly isHead: boolean } | undefined;
  readonly #onResponse: (status: number) => void;
  #state: State = 'head';
  /** Start of a head or line whose end is still to come. */
  #rest = nothing;
  /** Text of `#head`: most servers send the same one again and again, and it is parsed once. */
  #headText = '';
  #head: Head = { status: 0, body: 0, closes: false };
  /** Bytes still to come of the body or chunk. */
  #left = 0;

  /**
   * @param oldestRequest Returns the oldest request whose response is not complete, or undefined if there is none.
   * @param onResponse Called when a response is complete.
   */
  constructor(
    oldestRequest: () => { readonly isHead: boolean } | undefined,
    onResponse: (status: number) => void,
  ) {
    this.#oldestRequest = oldestRequest;
    this.#onResponse = onResponse;
  }

  /** True after the last response of the connection. */
  get isClosed(): boolean {
    return this.#state === 'closed';
  }

  /** @throws {MalformedResponseError} */
  read(bytes: Buffer): void {
    const chunk = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    this.#rest = nothing;
    let at = 0;
    while (at < chunk.length) {
      const next = this.#readPart(chunk, at);
      if (next === undefined) {
        this.#rest = Buffer.from(chunk.subarray(at));
        return;
      }
      at = next;
    }
  }

  /** Called when the server has closed the connection: completes a body without a length. */
  end(): void {
    if (this.#state === 'body until close') this.#complete(true);
  }

  /** Returns where the next part begins, or undefined if the end of this one is still to come. */
  #readPart(chunk: Buffer, at: number): number | undefined {
    switch (this.#state) {
      case 'head':
        return this.#readHead(chunk, at);
      case 'body':
      case 'chunk': {
        const end = Math.min(chunk.length, at + this.#left);
        this.#left -= end - at;
        if (this.#left > 0) return end;
        if (this.#state === 'body') this.#complete(this.#head.closes);
        else this.#state = 'chunk CR';
        return end;
      }
      case 'chunk CR':
        return this.#readByte(chunk[at] === carriageReturn, at, 'chunk LF');
      case 'chunk LF':
        return this.#readByte(chunk[at] === lineFeed, at, 'chunk size');
      case 'chunk size':
      case 'trailers': {
        const line = textBefore('\r\n', chunk, at);
        if (line === undefined) return undefined;
        if (this.#state === 'chunk size') this.#beginChunk(line);
        else if (line === '') this.#complete(this.#head.closes);
        else parseField(line);
        return at + line.length + 2;
      }
      case 'body until close':
      case 'closed':
        return chunk.length;
    }
  }

  #readHead(chunk: Buffer, at: number): number | undefined {
    // An empty line before a response is skipped, as llhttp does.
    if (chunk[at] === carriageReturn || chunk[at] === lineFeed) return at + 1;
    const request = this.#oldestRequest();
    if (request === undefined) {
      throw new MalformedResponseError('The server responds without a request.');
    }
    const text = textBefore('\r\n\r\n', chunk, at);
    if (text === undefined) {
      const start = chunk.toString('latin1', at, at + 7);
      if (!'HTTP/1.'.startsWith(start)) throw new MalformedResponseError(`No head: ${start}`);
      return undefined;
    }
    if (text !== this.#headText) {
      this.#head = parseHead(text);
      this.#headText = text;
    }
    this.#beginBody(request.isHead);
    return at + text.length + 4;
  }

  #beginBody(isHead: boolean): void {
    const { status, body, closes } = this.#head;
    // 101 would change the protocol, which no request asks for; other responses below 200 precede the real one.
    if (status === 101) throw new MalformedResponseError('The server changes the protocol.');
    if (status < 200) return;
    if (isHead || status === 204 || status === 304 || body === 0) {
      this.#complete(closes);
    } else if (typeof body === 'number') {
      this.#left = body;
      this.#state = 'body';
    } else {
      this.#state = body;
    }
  }

  #beginChunk(line: string): void {
    const size = /^([\da-f]{1,13})[ \t]*(?:;.*)?$/i.exec(line)?.[1];
    if (size === undefined) throw new MalformedResponseError(`No chunk size: ${line}`);
    this.#left = Number.parseInt(size, 16);
    this.#state = this.#left === 0 ? 'trailers' : 'chunk';
  }

  #readByte(isExpected: boolean, at: number, next: State): number {
    if (!isExpected) throw new MalformedResponseError('A chunk is longer than its size.');
    this.#state = next;
    return at + 1;
  }

  #complete(closes: boolean): void {
    this.#state = closes ? 'closed' : 'head';
    this.#onResponse(this.#head.status);
  }
}

/** Returns the text up to a terminator, or undefined if that is still to come. */
function textBefore(terminator: string, chunk: Buffer, at: number): string | undefined {
  const end = chunk.indexOf(terminator, at, 'latin1');
  const text = chunk.toString('latin1', at, end < 0 ? chunk.length : end);
  if (text.length > maxTextBytes) {
    throw new MalformedResponseError(`A head or line has more than ${maxTextBytes} bytes.`);
  }
  // Would wait for the terminator in vain.
  if (end < 0 && /(?<!\r)\n/.test(text)) throw new MalformedResponseError('A line ends in LF.');
  return end < 0 ? undefined : text;
}

function parseHead(text: string): Head {
  const [statusLine = '', ...lines] = text.split('\r\n');
  const [, minor, status] =
    /^HTTP\/1\.([01]) (\d{3})(?: [\t -~\u0080-\u00ff]*)?$/.exec(statusLine) ?? [];
  if (status === undefined) throw new MalformedResponseError(`No status line: ${statusLine}`);
  const fields = lines.map(parseField);
  const valuesOf = (sought: string): string[] =>
    fields.filter(({ name }) => name === sought).map(({ value }) => value);
  const lengths = valuesOf('content-length');
  const codings = listOf(valuesOf('transfer-encoding'));
  const options = listOf(valuesOf('connection'));
  if (lengths.length + Math.min(codings.length, 1) > 1 || !lengths.every(isLength)) {
    throw new MalformedResponseError(`No single length: ${[...lengths, ...codings].join(', ')}`);
  }
  return {
    status: Number(status),
    body:
      lengths.length > 0
        ? Number(lengths[0])
        : codings.at(-1) === 'chunked'
          ? 'chunk size'
          : 'body until close',
    closes: options.includes('close') || (minor === '0' && !options.includes('keep-alive')),
  };
}

function parseField(line: string): { name: string; value: string } {
  const [, name, value] = /^([\w!#$%&'*+\-.^`|~]+):([\t -~\u0080-\u00ff]*)$/.exec(line) ?? [];
  if (name === undefined) throw new MalformedResponseError(`No field: ${line}`);
  return { name: name.toLowerCase(), value: value!.trim() };
}

function listOf(values: readonly string[]): string[] {
  return values.flatMap((value) => value.toLowerCase().split(',')).map((each) => each.trim());
}

function isLength(value: string): boolean {
  return /^\d{1,15}$/.test(value);
}
