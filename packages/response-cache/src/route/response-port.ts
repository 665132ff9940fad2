import type { ServerResponse } from 'node:http';

export const jsonType = 'application/json; charset=utf-8';

/** The text of a response, or the bytes of a compressed variant. */
export type Body = string | Buffer;

/** Adds the charset that frameworks add to the type of text, but not of bytes. */
export function withCharset(type: string): string {
  return /;\s*charset=/i.test(type) ? type : `${type}; charset=utf-8`;
}

export type HeaderValue = string | number | readonly string[] | undefined;
export type Headers = Readonly<Record<string, HeaderValue>>;

/** Operations of the cache on a response, which each HTTP framework does its own way. */
export interface ResponsePort<Response> {
  statusOf(response: Response): number;
  setStatus(response: Response, status: number): void;
  /** Makes it a 304, without the headers of a body. */
  setNotModified(response: Response): void;
  /** Returns true once the handler has responded on its own. */
  isTaken(response: Response): boolean;
  /** Returns true once the client has left. */
  isGone(response: Response): boolean;
  getHeader(response: Response, name: string): unknown;
  setsCookie(response: Response): boolean;
  /** Returns its current headers, by their names in lower case. */
  headersOf(response: Response): Headers;
  /** Returns the spelling of their names, if a framework keeps that. */
  spellingsOf?(response: Response): (name: string) => string;
  setHeader(response: Response, name: string, value: string | number | readonly string[]): void;
  removeHeader(response: Response, name: string): void;
  /** Types the response as JSON, unless the route has typed it. */
  typeAsJson(response: Response, body: Body): void;
  /** Runs the hooks of the framework that change `value` before it is serialised. */
  shape?(request: unknown, response: Response, value: unknown): unknown;
  /** Returns the reason why text would not be sent as the framework sends an object. */
  obstacle?(response: Response): string | undefined;
  /** Returns the reason why the framework does not send the JSON of `value`, although `value` has one. */
  refuses?(response: Response, value: unknown): string | undefined;
  /** Types the response if the framework does not send `value` as JSON. */
  typeOther?(response: Response, value: unknown): void;
  /** Returns the JSON that the framework itself would send for `value`. */
  serialize(response: Response, value: unknown): string | undefined;
  /** Returns true if the framework itself sends 304 for `If-None-Match`, in place of a response with this status. */
  revalidates?(status: number): boolean;
  /** Sends text or bytes unchanged; with undefined, no body, as for a 304. */
  send(response: Response, body: Body | undefined): void;
  /** Replaces the text that the framework sends next with `bytes`. */
  sendAs(response: Response, bytes: Buffer): void;
  /** Returns Node's own response. */
  rawOf(response: Response): ServerResponse;
}
