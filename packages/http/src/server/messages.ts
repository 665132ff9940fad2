import type { HttpConnection } from '../connection/connection.ts';
import type { AppMessages, CustomMessages, EngineRequest } from '../exchange.ts';
import { appRequest, appResponse } from './app-messages.ts';
import { REQUEST_FLAGS, type HeaderBlock } from '../native/index.ts';
import { http } from '../node/node-http.ts';
import { kRejectBody } from '../node/node-internals.ts';
import { hasHttpObserver } from '../node/performance-entries.ts';
import {
  areRequestsReplaced,
  isRequestEmitReplaced,
  areResponsesReplaced,
} from '../node/replaced-methods.ts';
import { BodylessRequest, BodyRequest } from '../request/request.ts';
import {
  kConnection,
  kDirect,
  kBuffered,
  kIsNodes,
  kJoinedLength,
  kReleased,
  kSequence,
  kTickBytes,
  kWriteCallbacks,
} from '../node/message-state.ts';
import { EngineResponse } from '../response/response.ts';

const { BODY_NONE, HTTP_10, KEEP_ALIVE } = REQUEST_FLAGS;

const NodeRequest = http.IncomingMessage as unknown as NonNullable<CustomMessages['request']>;
const NodeResponse = http.ServerResponse as unknown as NonNullable<CustomMessages['response']>;

export function createRequest(
  connection: HttpConnection,
  method: string,
  url: string,
  flags: number,
  block: HeaderBlock,
  app: AppMessages | undefined,
): EngineRequest {
  const minorVersion = (flags & HTTP_10) === 0 ? 1 : 0;
  const Custom =
    connection.server.custom.request ?? (areRequestsReplaced() ? NodeRequest : undefined);
  if (Custom === undefined) {
    const hasBody = (flags & BODY_NONE) === 0;
    if (app !== undefined) return appRequest(app, connection, method, url, block, hasBody);
    return hasBody || isRequestEmitReplaced()
      ? new BodyRequest(connection, method, url, minorVersion, block)
      : new BodylessRequest(connection, method, url, minorVersion, block);
  }
  const request = new Custom(connection.socket()) as never as EngineRequest;
  request.httpVersionMajor = 1;
  request.httpVersionMinor = minorVersion;
  request.httpVersion = `1.${minorVersion}`;
  request.method = method;
  request.url = url;
  const { joinDuplicateHeaders } = connection.server;
  Object.assign(request, { upgrade: false, joinDuplicateHeaders });
  request[kReleased] = false;
  const raw = block.raw.slice();
  request._addHeaderLines(raw, raw.length);
  return request;
}

export function createResponse(
  request: EngineRequest,
  connection: HttpConnection,
  sequence: number,
  flags: number,
  app: AppMessages | undefined,
): EngineResponse {
  const { server } = connection;
  const keepAlive = (flags & KEEP_ALIVE) !== 0 && !server.isEnding;
  const Custom =
    server.custom.response ??
    (areResponsesReplaced() || hasHttpObserver() ? NodeResponse : undefined);
  let response: EngineResponse;
  if (Custom === undefined) {
    response =
      app === undefined
        ? new EngineResponse(request, connection, sequence, keepAlive)
        : appResponse(app, request, connection, sequence, keepAlive);
    if (server.rejectNonStandardBodyWrites) response[kRejectBody] = true;
  } else {
    response = custom(
      new Custom(request as never, {
        highWaterMark: server.highWaterMark,
        rejectNonStandardBodyWrites: server.rejectNonStandardBodyWrites,
      }) as never,
      connection,
      sequence,
      keepAlive,
    );
  }
  if (server.uniqueHeaders !== undefined) {
    const [key, names] = server.uniqueHeaders;
    Object.assign(response, { [key]: names });
  }
  return response;
}

function custom(
  response: EngineResponse,
  connection: HttpConnection,
  sequence: number,
  keepAlive: boolean,
): EngineResponse {
  const { server } = connection;
  response[kConnection] = connection;
  response[kSequence] = sequence;
  response[kDirect] = false;
  response[kIsNodes] = true;
  response[kTickBytes] = 0;
  response[kWriteCallbacks] = null;
  response[kBuffered] = null;
  response[kJoinedLength] = 0;
  response._onPendingData = (length) => connection.countWaiting(length);
  response._keepAliveTimeout = server.keepAliveTimeout;
  response._maxRequestsPerSocket = server.maxRequestsPerSocket!;
  response.shouldKeepAlive = keepAlive;
  return response;
}
