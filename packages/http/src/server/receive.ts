import type { Socket } from 'node:net';
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
import { beginExchange } from '../request/request-context.ts';
import { isUpgrade, upgrade } from '../connection/upgrade.ts';
import { publishCreated, publishStart } from '../connection/channels.ts';
import { currentObserver } from '../exchange-observer.ts';
import type { EngineRequest, EngineResponse, ServingServer } from '../exchange.ts';
import { kContext, kObserver } from '../node/message-state.ts';
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
  const observer = currentObserver();
  if ((flags & (UPGRADE | CONNECT)) !== 0 && isUpgrade(request, connection)) {
    if (observer !== undefined) beginExchange(observer, connection, request, undefined, sequence);
    upgrade(request, connection);
    return;
  }
  const response = createResponse(request, connection, sequence, flags, app);
  connection.incoming = request;
  connection.enqueue(response);
  if (observer !== undefined) beginExchange(observer, connection, request, response, sequence);
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
        emit(server, 'dropRequest', request, connection.socket());
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
  emit(server, 'request', request, response);
}

/** Emits an event of the server in the request's context. */
function emit(
  server: ServingServer,
  event: string,
  request: EngineRequest,
  given: EngineResponse | Socket,
): void {
  const context = request[kContext];
  if (context === undefined) server.emit(event, request, given);
  else request[kObserver]!.run(context, emitNow, server, event, request, given);
}

function emitNow(
  server: ServingServer,
  event: string,
  request: EngineRequest,
  given: EngineResponse | Socket,
): void {
  server.emit(event, request, given);
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
      emit(server, 'checkContinue', request, response);
    } else {
      response.writeContinue();
      emit(server, 'request', request, response);
    }
  } else if (server.listenerCount('checkExpectation') > 0) {
    emit(server, 'checkExpectation', request, response);
  } else {
    response.writeHead(417);
    response.end();
  }
}
