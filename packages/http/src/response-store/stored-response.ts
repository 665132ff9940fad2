import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

/** A response that the engine sends without JavaScript. */
export interface StoredResponse {
  /** @default 200 */
  readonly status?: number;
  /**
   * Sent in this order and spelling. The engine writes `Date`, `Connection` and `Keep-Alive` itself, and `Content-Length` if
   * it is missing.
   */
  readonly headers?: StoredHeaders;
  /** Sent unchanged: already compressed if `Content-Encoding` says so. */
  readonly body: string | Uint8Array;
  /** Time for which it is fresh, in ms. */
  readonly freshMs: number;
  /**
   * Time for which it is sent stale after that, in ms, while one request at a time reaches the application to make a new
   * one.
   * @default 0
   */
  readonly staleMs?: number;
  /** Tags for `dropTags`. */
  readonly tags?: readonly string[];
  /** Request headers it depends on; each combination of their values has its own response, max 16 per target. */
  readonly vary?: readonly string[];
  /**
   * With `Accept-Encoding` in `vary`: the codings of its variants, of `'br'`, `'zstd'` and `'gzip'`, the preferred one
   * first. A variant is then sent to all requests whose header selects its coding by RFC 9110, 12.5.3, and the one without a
   * coding to all others.
   * @default the raw value of the header selects the variant
   */
  readonly encodings?: readonly string[];
  /**
   * `'public'`: the same for every client. A header or cookie: for clients that send the same value.
   * @default only for requests without credentials: `Authorization`, `Cookie`, `X-API-Key` and the like
   */
  readonly identify?: 'public' | { readonly header: string } | { readonly cookie: string };
  /**
   * Without `identify`: `'ignore'` also serves requests with cookies. Cookies of well-known analytics never count.
   * @default 'private'
   */
  readonly cookies?: 'ignore' | 'private';
  /**
   * Headers of its 304, which is sent if `If-None-Match` matches its `ETag`.
   * @default `headers` without Content-Type and Content-Length
   */
  readonly notModified?: StoredHeaders;
  /**
   * `lines.line` of the server's `ResponseStore`: its hits are logged. 0: they are not.
   * @default 0
   */
  readonly line?: number;
  /**
   * The response that it repeats: an observer of exchanges counts it under the same route.
   * @default no route
   */
  readonly from?: ServerResponse;
}

/** As for `writeHead`; pairs keep order and duplicates. */
export type StoredHeaders = OutgoingHttpHeaders | readonly (readonly [string, string])[];
