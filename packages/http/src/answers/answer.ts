import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';

/** A response that the engine gives by itself. */
export interface Answer {
  /** @default 200 */
  readonly status?: number;
  /**
   * In the order and spelling in which they are sent. The engine writes `Date`, `Connection` and `Keep-Alive` itself, and
   * `Content-Length` if it is missing.
   */
  readonly headers?: AnswerHeaders;
  /** As it is sent: already compressed if `Content-Encoding` says so. */
  readonly body: string | Uint8Array;
  /** How long it is valid, in ms. */
  readonly freshMs: number;
  /**
   * How long it is still sent after that, in ms, while one request at a time reaches the application to make a new one.
   * @default 0
   */
  readonly staleMs?: number;
  /** For `dropTags`. */
  readonly tags?: readonly string[];
  /** Request headers on which it depends; each combination of their values has its own answer, at most 16 for a target. */
  readonly vary?: readonly string[];
  /**
   * With `Accept-Encoding` in `vary`: the codings of its variants, of `'br'`, `'zstd'` and `'gzip'`, the preferred one first. A
   * variant is then sent to all requests whose header chooses its coding by RFC 9110, 12.5.3, and the one without a coding to
   * all others.
   * @default the value of the header counts as it is sent
   */
  readonly encodings?: readonly string[];
  /**
   * `'public'`: it is the same for everyone. A header or cookie: it is for those who send the same value.
   * @default only for requests without credentials: `Authorization`, `Cookie`, `X-API-Key` and their like
   */
  readonly identify?: 'public' | { readonly header: string } | { readonly cookie: string };
  /**
   * Without `identify`: whether a request with cookies may get it. Those of well-known analytics do not count.
   * @default 'private'
   */
  readonly cookies?: 'ignore' | 'private';
  /**
   * Headers of its 304, which is sent if `If-None-Match` names its `ETag`.
   * @default `headers` without Content-Type and Content-Length
   */
  readonly notModified?: AnswerHeaders;
  /**
   * `lines.line` of its server's `Answers`: requests that get it have a line in the log. 0: they have none.
   * @default 0
   */
  readonly line?: number;
}

/** As for `writeHead`; pairs keep order and duplicates. */
export type AnswerHeaders = OutgoingHttpHeaders | readonly (readonly [string, string])[];

/** A request as far as its answer depends on it. `url` is the target as it was sent, before any rewriting. */
export interface AnswerRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}
