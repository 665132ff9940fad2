/** What the code behind the cache has read of a request while it made a response, beside its URL. */
export class Reads {
  /** In lower case. */
  readonly headers: string[] = [];
  /** Whether all headers were read at once: a loop, a spread, `JSON.stringify`, `rawHeaders`. */
  areHeadersListed = false;
  readonly cookies: string[] = [];
  areCookiesListed = false;
  /** Whether the connection was asked who the client is. */
  isPeerRead = false;
  /** Whether only a getter of the protocol or the host may have asked it. */
  mayBeOfOrigin = false;
  /** Properties of the request, or of `response.locals`, that something ahead of the cache has set. */
  readonly properties: string[] = [];

  /** @param _isValue whether its value was read, and not only whether it is there */
  noteHeader(name: string, _isValue: boolean): void {
    this.headers.push(name);
  }

  /** @param _headers those that are listed; undefined where they have no names, as in `rawHeaders` */
  noteAllHeaders(_headers?: object): void {
    this.areHeadersListed = true;
  }

  notePeer(): void {
    this.isPeerRead = true;
  }
}

/* While a logger reads the request: what it writes does not become a part of the response. */
let exempt = 0;

/**
 * Runs `work`, such as a logger that writes all headers, without taking what it reads of a request for something that the
 * response depends on. For synchronous work: what an `await` in it continues is observed again.
 */
export function unobserved<Result>(work: () => Result): Result {
  exempt += 1;
  try {
    return work();
  } finally {
    exempt -= 1;
  }
}

/** False within {@link unobserved}. */
export function isObserved(): boolean {
  return exempt === 0;
}
