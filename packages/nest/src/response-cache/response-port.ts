export const jsonType = 'application/json; charset=utf-8';

/** What the cache does to a response, which each HTTP framework does its own way. */
export interface ResponsePort<Response> {
  statusOf(response: Response): number;
  /** True once the handler has answered on its own. */
  isTaken(response: Response): boolean;
  setsCookie(response: Response): boolean;
  /** Types the response as JSON, unless the route has typed it. */
  typeAsJson(response: Response): void;
  /** The JSON the framework itself would send for `value`. */
  serialize(response: Response, value: unknown): string | undefined;
}
