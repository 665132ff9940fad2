import { expressResponses } from '@redline/response-cache/route';

/** Nest on Express sends an empty body for null, and numbers and booleans as text: a cached route must not differ. */
export const nestExpressResponses: typeof expressResponses = {
  ...expressResponses,
  typeAsJson(response, body) {
    if (body !== 'null') expressResponses.typeAsJson(response, body);
  },
  // Nest sends a number or a boolean as text, which Express types as HTML.
  typeOther(response, value) {
    if (typeof value !== 'object' && response.getHeader('content-type') === undefined)
      response.setHeader('content-type', 'text/html; charset=utf-8');
  },
  send(response, body) {
    expressResponses.send(response, body === 'null' ? undefined : body);
  },
};
