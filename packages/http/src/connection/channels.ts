import { channel } from 'node:diagnostics_channel';
import type { EngineConnection, EngineRequest, EngineResponse as Response } from '../exchange.ts';
import { EngineResponse } from '../response/response.ts';

// The channels of node:http's own server, which tracing tools subscribe to.
const requestStart = channel('http.server.request.start');
const responseCreated = channel('http.server.response.created');
const responseFinish = channel('http.server.response.finish');

/** Where Node's own constructor made the response, it published that too. */
export function publishCreated(request: EngineRequest, response: Response): void {
  if (responseCreated.hasSubscribers && response instanceof EngineResponse) {
    responseCreated.publish({ request, response });
  }
}

/** Somebody sees messages before their listeners. */
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
