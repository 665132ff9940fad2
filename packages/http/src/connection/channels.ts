import { channel } from 'node:diagnostics_channel';
import type { EngineConnection, EngineRequest, EngineResponse as Response } from '../exchange.ts';
import { EngineResponse } from '../response/response.ts';

// The channels of node:http's own server, which tracing tools subscribe to.
const requestStart = channel('http.server.request.start');
const responseCreated = channel('http.server.response.created');
const responseFinish = channel('http.server.response.finish');

/** Skips responses made by Node's own constructor, which publishes this itself. */
export function publishCreated(request: EngineRequest, response: Response): void {
  if (responseCreated.hasSubscribers && response instanceof EngineResponse) {
    responseCreated.publish({ request, response });
  }
}

/** True if subscribers see messages before the request listeners do. */
export function hasStartSubscribers(): boolean {
  return requestStart.hasSubscribers || responseCreated.hasSubscribers;
}

export function publishStart(
  request: EngineRequest,
  response: Response,
  connection: EngineConnection,
): void {
  if (!requestStart.hasSubscribers) return;
  const { server } = connection;
  requestStart.publish({ request, response, socket: connection.socket(), server });
}

export function hasFinishSubscribers(): boolean {
  return responseFinish.hasSubscribers;
}

export function publishFinish(response: Response, connection: EngineConnection): void {
  if (!responseFinish.hasSubscribers) return;
  const { server } = connection;
  responseFinish.publish({
    request: response.req,
    response,
    socket: connection.socket(),
    server,
  });
}
