/** The reads of a request, other than its URL, by the code after the cache while it made a response. */
export class Reads {
  /** In lower case. */
  readonly headers: string[] = [];
  /** True once all headers were read at once: a loop, a spread, `JSON.stringify`, `rawHeaders`. */
  areHeadersListed = false;
  readonly cookies: string[] = [];
  areCookiesListed = false;
  /** True once the address of the client was read from the connection. */
  isPeerRead = false;
  /** True if the read may be only that of a getter of the protocol or the host. */
  mayBeOfOrigin = false;
  /** Properties of the request, or of `response.locals`, that something ahead of the cache has set. */
  readonly properties: string[] = [];

  /** @param _isValue false if only its presence was checked */
  noteHeader(name: string, _isValue: boolean): void {
    this.headers.push(name);
  }

  /** @param _headers the listed ones; undefined if they have no names, as in `rawHeaders` */
  noteAllHeaders(_headers?: object): void {
    this.areHeadersListed = true;
  }

  notePeer(): void {
    this.isPeerRead = true;
  }
}

/* Above 0 while a logger reads the request: its lines do not become a part of the response. */
let exempt = 0;

/**
 * Runs `work`, such as a logger that writes all headers, without counting its reads of a request as dependencies of the
 * response. For synchronous work: code after an `await` in it is observed again.
 */
export function unobserved<Result>(work: () => Result): Result {
  exempt += 1;
  try {
    return work();
  } finally {
    exempt -= 1;
  }
}

/** Returns false within {@link unobserved}. */
export function isObserved(): boolean {
  return exempt === 0;
}
