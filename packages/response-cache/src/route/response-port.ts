import type { ServerResponse } from 'node:http';

export const jsonType = 'application/json; charset=utf-8';

/** The text of a response, or the bytes of a compressed variant. */
export type Body = string | Buffer;

/** A type as frameworks give it to text; to bytes they do not. */
export function withCharset(type: string): string {
  return /;\s*charset=/i.test(type) ? type : `${type}; charset=utf-8`;
}

export type HeaderValue = string | number | readonly string[] | undefined;
export type Headers = Readonly<Record<string, HeaderValue>>;

/** What the cache does to a response, which each HTTP framework does its own way. */
export interface ResponsePort<Response> {
  statusOf(response: Response): number;
  setStatus(response: Response, status: number): void;
  /** Makes it a 304, without headers of a body. */
  setNotModified(response: Response): void;
  /** True once the handler has answered on its own. */
  isTaken(response: Response): boolean;
  /** True once the client has left. */
  isGone(response: Response): boolean;
  getHeader(response: Response, name: string): unknown;
  setsCookie(response: Response): boolean;
  /** The headers it has now, by their names in lower case. */
  headersOf(response: Response): Headers;
  /** How their names are written, where a framework keeps that. */
  spellingsOf?(response: Response): (name: string) => string;
  setHeader(response: Response, name: string, value: string | number | readonly string[]): void;
  removeHeader(response: Response, name: string): void;
  /** Types the response as JSON, unless the route has typed it. */
  typeAsJson(response: Response, body: Body): void;
  /** What the hooks of the framework make of `value` before it is serialised. */
  shape?(request: unknown, response: Response, value: unknown): unknown;
  /** Why text would not be sent as the framework sends an object. */
  obstacle?(response: Response): string | undefined;
  /** Why the framework does not send the JSON of `value`, although `value` has one. */
  refuses?(response: Response, value: unknown): string | undefined;
  /** Types the response where the framework does not send `value` as JSON. */
  typeOther?(response: Response, value: unknown): void;
  /** The JSON the framework itself would send for `value`. */
  serialize(response: Response, value: unknown): string | undefined;
  /** Whether the framework itself sends 304 for `If-None-Match`, in place of a response of this status. */
  revalidates?(status: number): boolean;
  /** Sends text or bytes as they are; undefined: nothing, as for a 304. */
  send(response: Response, body: Body | undefined): void;
  /** Has the text that the framework sends next be sent as `bytes`. */
  sendAs(response: Response, bytes: Buffer): void;
  /** Node's own response. */
  rawOf(response: Response): ServerResponse;
}
