import { failConnection } from '../connection/client-error.ts';
import type { HttpConnection } from '../connection/connection.ts';
import { nextTick } from '../node/clocks.ts';
import { appOf, learnApp } from './app-messages.ts';
import { dispatch } from './dispatch.ts';
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

const { BODY_COMPLETE, BODY_NONE, CONNECT, UPGRADE } = REQUEST_FLAGS;

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
