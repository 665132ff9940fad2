import type { ServerResponse } from 'node:http';
import { sendNextAs } from '../override-methods.ts';
import {
  jsonType,
  withCharset,
  type Body,
  type Headers,
  type ResponsePort,
} from '../response-port.ts';

/* Not Express's own type: its package is not installed in an app on Fastify. */
interface Response {
  statusCode: number;
  readonly headersSent: boolean;
  readonly destroyed: boolean;
  readonly closed: boolean;
  readonly app: { get(setting: string): unknown };
  getHeader(name: string): unknown;
  getHeaders(): Headers;
  getRawHeaderNames?(): string[];
  setHeader(name: string, value: unknown): unknown;
  removeHeader(name: string): void;
  send(body?: Body): unknown;
}

type Replacer = (this: unknown, key: string, value: unknown) => unknown;

export const expressResponses: ResponsePort<Response> = {
  statusOf: (response) => response.statusCode,
  setStatus: (response, status) => void (response.statusCode = status),
  // Express removes the headers of the body.
  setNotModified: (response) => void (response.statusCode = 304),
  isTaken: (response) => response.headersSent,
  isGone: (response) => response.destroyed || response.closed,
  headersOf: (response) => ({ ...response.getHeaders() }),
  spellingsOf(response) {
    const names = response.getRawHeaderNames?.() ?? [];
    return (name) => names.find((each) => each.toLowerCase() === name) ?? name;
  },
  getHeader: (response, name) => response.getHeader(name),
  setHeader: (response, name, value) => void response.setHeader(name, value),
  removeHeader: (response, name) => response.removeHeader(name),
  setsCookie: (response) => response.getHeader('set-cookie') !== undefined,
  typeAsJson(response, body) {
    const type = response.getHeader('content-type');
    if (type === undefined) response.setHeader('content-type', jsonType);
    else if (typeof body !== 'string')
      response.setHeader('content-type', withCharset(String(type)));
  },
  // Middleware that wraps or redacts the argument of res.json() would not see text.
  obstacle(response) {
    if (Object.hasOwn(response, 'json')) return 'a middleware replaces response.json()';
    // Express gives each response a prototype of the app.
    const isReplaced = Object.hasOwn(Object.getPrototypeOf(response), 'json');
    return isReplaced ? 'the app replaces response.json()' : undefined;
  },
  // Same as res.json(), with the settings of the app.
  serialize({ app }, value) {
    const replacer = app.get('json replacer') as Replacer | undefined;
    const spaces = app.get('json spaces') as string | number | undefined;
    const json = JSON.stringify(value, replacer, spaces) as string | undefined;
    return app.get('json escape') ? json?.replace(/[<>&]/g, escaped) : json;
  },
  revalidates: (status) => status >= 200 && status < 300,
  send: (response, body) => void (body === undefined ? response.send() : response.send(body)),
  sendAs: sendNextAs,
  rawOf: (response) => response as unknown as ServerResponse,
};

function escaped(character: string): string {
  return `\\u00${character.charCodeAt(0).toString(16)}`;
}
