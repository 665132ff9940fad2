import { publishCreated, publishStart } from '../connection/channels.ts';
import type { EngineRequest, EngineResponse } from '../exchange.ts';
import type { HttpConnection } from '../connection/connection.ts';
import { REQUEST_FLAGS } from '../native/index.ts';
import { areRequestsReplaced } from '../node/replaced-methods.ts';

const { EXPECT_CONTINUE, EXPECT_OTHER, HOST_MISSING } = REQUEST_FLAGS;

/** Passes a request to its listeners, following the rules of Node's server. */
export function dispatch(
  connection: HttpConnection,
  request: EngineRequest,
  response: EngineResponse,
  flags: number,
): void {
  const { server } = connection;
  publishCreated(request, response);
  publishStart(request, response, connection);
  connection.begin(response);

  if (request.httpVersionMinor === 1) {
    // Node's server reads them.
    if (server.custom.request !== undefined || areRequestsReplaced()) void request.headers;
    if ((flags & HOST_MISSING) !== 0 && server.requireHostHeader) {
      response.writeHead(400, ['Connection', 'close']);
      response.end();
      return;
    }
    const limit = server.maxRequestsPerSocket;
    if (typeof limit === 'number' && limit > 0) {
      const count = ++connection.requestCount;
      response.maxRequestsOnConnectionReached = limit <= count;
      if (limit < count) {
        server.emit('dropRequest', request, connection.socket());
        response.writeHead(503);
        response.end();
        return;
      }
    }
    if ((flags & (EXPECT_CONTINUE | EXPECT_OTHER)) !== 0) {
      dispatchExpectation(connection, request, response, flags);
      return;
    }
  } else {
    response.useChunkedEncodingByDefault = /(?:^|\W)chunked(?:$|\W)/i.test(
      String(request.headers.te),
    );
  }
  server.emit('request', request, response);
}

function dispatchExpectation(
  { server }: HttpConnection,
  request: EngineRequest,
  response: EngineResponse,
  flags: number,
): void {
  if ((flags & EXPECT_CONTINUE) !== 0) {
    response._expect_continue = true;
    if (server.listenerCount('checkContinue') > 0) {
      server.emit('checkContinue', request, response);
    } else {
      response.writeContinue();
      server.emit('request', request, response);
    }
  } else if (server.listenerCount('checkExpectation') > 0) {
    server.emit('checkExpectation', request, response);
  } else {
    response.writeHead(417);
    response.end();
  }
}
