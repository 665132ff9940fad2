import { jsonType, type ResponsePort } from './response-port.ts';

/* Not Express's own type: its package is not there in an app on Fastify. */
interface Response {
  readonly statusCode: number;
  readonly headersSent: boolean;
  readonly app: { get(setting: string): unknown };
  getHeader(name: string): unknown;
  setHeader(name: string, value: string): unknown;
}

type Replacer = (this: unknown, key: string, value: unknown) => unknown;

export const expressResponses: ResponsePort<Response> = {
  statusOf: (response) => response.statusCode,
  isTaken: (response) => response.headersSent,
  setsCookie: (response) => response.getHeader('set-cookie') !== undefined,
  typeAsJson(response) {
    if (response.getHeader('content-type') === undefined)
      response.setHeader('content-type', jsonType);
  },
  // As res.json() does, with the settings of the app.
  serialize({ app }, value) {
    const replacer = app.get('json replacer') as Replacer | undefined;
    const spaces = app.get('json spaces') as string | number | undefined;
    const json = JSON.stringify(value, replacer, spaces) as string | undefined;
    return app.get('json escape') ? json?.replace(/[<>&]/g, escaped) : json;
  },
};

function escaped(character: string): string {
  return `\\u00${character.charCodeAt(0).toString(16)}`;
}
