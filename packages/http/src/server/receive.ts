import { failConnection } from '../connection/client-error.ts';
import type { HttpConnection } from '../connection/connection.ts';
import { nextTick } from '../node/clocks.ts';
import { appOf, learnApp } from './app-messages.ts';
import { createRequest, createResponse } from './messages.ts';
import { REQUEST_FLAGS, type HeaderBlock } from '../native/index.ts';
import { mendPrototypes } from '../connection/replaced-prototypes.ts';
import {
  completeBody,
  completeBodyless,
  pushBody,
  skipEmptyBody,
} from '../request/request-body.ts';
import { announcesBody } from '../request/request-headers.ts';
import { isUpgrade, upgrade } from '../connection/upgrade.ts';
import { publishCreated, publishStart } from '../connection/channels.ts';
import type { EngineRequest, EngineResponse } from '../exchange.ts';
import { areRequestsReplaced } from '../node/replaced-methods.ts';

const { BODY_COMPLETE, BODY_NONE, CONNECT, EXPECT_CONTINUE, EXPECT_OTHER } = REQUEST_FLAGS;
const { HOST_MISSING, UPGRADE } = REQUEST_FLAGS;

/** Creates the messages of a request and dispatches it. */
export function receive(
  connection: HttpConnection,
  sequence: number,
  method: string,
  url: string,
  flags: number,
  headers: HeaderBlock,
  body: Buffer | undefined,
): void {
  const app = appOf(connection, flags);
  const request = createRequest(connection, method, url, flags, headers, app);
  if ((flags & (UPGRADE | CONNECT)) !== 0 && isUpgrade(request, connection)) {
    upgrade(request, connection);
    return;
  }
  const response = createResponse(request, connection, sequence, flags, app);
  connection.incoming = request;
  connection.enqueue(response);
  const hasBody = (flags & BODY_NONE) === 0;
  if (!hasBody && connection.server.optimizesEmptyRequests && !announcesBody(request)) {
    skipEmptyBody(request);
  }
  let threw = true;
  try {
    dispatch(connection, request, response, flags);
    threw = false;
  } finally {
    mendPrototypes(request, response);
    learnApp(connection, request, response);
    if (!hasBody) {
      // As in Node, the request is not complete yet when the process gets the listener's error.
      if (threw) nextTick(completeBodyless, request);
      else completeBodyless(request);
      connection.resumeReading();
    }
    if (body !== undefined) pushBody(connection, body);
    if ((flags & BODY_COMPLETE) !== 0) completeBody(connection, []);
  }
}

/** Reports an error in the client's bytes. */
export function fail(connection: HttpConnection, error: Error, place: number | undefined): void {
  failConnection(connection.socket(), error, place);
}

/** Passes a request to its listeners, following the rules of Node's server. */
function dispatch(
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
