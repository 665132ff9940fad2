import { hasStartSubscribers } from '../connection/channels.ts';
import type {
  AppMessages,
  EngineConnection,
  EngineRequest,
  EngineResponse as Response,
} from '../exchange.ts';
import { REQUEST_FLAGS, type HeaderBlock } from '../native/index.ts';
import { isEmitReplaced } from '../node/replaced-methods.ts';
import { BodylessRequest, BodyRequest, startRequest } from '../request/request.ts';
import { EngineResponse, startResponse } from '../response/response.ts';

// Express sets its app's prototypes on each message, and V8 then looks up the new shape field by field: with the twenty
// fields of a response, that took a twelfth of a request's CPU. A server whose only listener is such an app creates its
// messages with these prototypes, so that Express's own call changes nothing.

const { CONNECT, EXPECT_CONTINUE, EXPECT_OTHER, HOST_MISSING, HTTP_10, UPGRADE } = REQUEST_FLAGS;
/** Such requests are seen, or answered, before the app gets them. */
const SEEN_BEFORE = CONNECT | EXPECT_CONTINUE | EXPECT_OTHER | HOST_MISSING | HTTP_10 | UPGRADE;

type App = AppMessages['app'];
type RequestArguments = ConstructorParameters<AppMessages['Request']>;
type ResponseArguments = ConstructorParameters<AppMessages['Response']>;

/** Returns the server's app if no other code can see a message of this request first. */
export function appOf({ server }: EngineConnection, flags: number): AppMessages | undefined {
  const known = server.appMessages;
  if (known === undefined || known === null || (flags & SEEN_BEFORE) !== 0) return undefined;
  const { app, request, response } = known;
  const isAlone =
    server._events?.['request'] === app &&
    app.request === request &&
    app.response === response &&
    response.setHeader === known.setHeader &&
    !isEmitReplaced(server) &&
    !isEmitReplaced(response) &&
    !isEmitReplaced(request as never) &&
    !server.optimizesEmptyRequests &&
    !(server.maxRequestsPerSocket! > 0) &&
    !hasStartSubscribers();
  return isAlone ? known : undefined;
}

/** Checks once if the listener is an app that has set its prototypes on these messages. */
export function learnApp(
  connection: EngineConnection,
  request: EngineRequest,
  response: Response,
): void {
  const { server } = connection;
  if (server.appMessages !== undefined) return;
  const app = server._events?.['request'] as App | undefined;
  if (typeof app !== 'function' || !isObject(app.request) || !isObject(app.response)) {
    server.appMessages = null;
    return;
  }
  if (
    Reflect.getPrototypeOf(request) !== app.request ||
    Reflect.getPrototypeOf(response) !== app.response
  ) {
    return;
  }
  const { request: ofRequest, response: ofResponse } = app;
  const sample = new EngineResponse(request, connection, 0, true);
  server.appMessages =
    isOnlyMore(ofRequest, BodylessRequest.prototype, request) &&
    isOnlyMore(ofResponse, EngineResponse.prototype, sample)
      ? {
          app,
          request: ofRequest,
          response: ofResponse,
          setHeader: ofResponse.setHeader,
          Request: requestsOf(ofRequest),
          Response: responsesOf(ofResponse),
        }
      : null;
}

/** Creates a request with the app's prototype. */
export function appRequest(
  { Request }: AppMessages,
  connection: EngineConnection,
  method: string,
  url: string,
  block: HeaderBlock,
  hasBody: boolean,
): EngineRequest {
  return hasBody
    ? Reflect.construct(BodyRequest, [connection, method, url, 1, block], Request)
    : new Request(connection, method, url, 1, block);
}

export function appResponse(
  { Response }: AppMessages,
  request: EngineRequest,
  connection: EngineConnection,
  sequence: number,
  keepAlive: boolean,
): EngineResponse {
  return new Response(request, connection, sequence, keepAlive) as EngineResponse;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/**
 * Returns true if the prototypes between the given one and ours share no key with Node's messages: neither a method, which
 * would be called too early, nor an accessor of a field.
 */
function isOnlyMore(prototype: object, ours: object, message: object): boolean {
  for (let at: object | null = prototype; at !== ours; at = Reflect.getPrototypeOf(at)) {
    if (at === null) return false;
    const isTaken = (key: PropertyKey): boolean => key in ours || Object.hasOwn(message, key);
    if (Reflect.ownKeys(at).some(isTaken)) return false;
  }
  return true;
}

// Functions, because the prototype of a class is read-only. They are called directly: V8 looks up the shape of an object if
// `new.target` is a function that has not constructed any. Their own prototype makes V8 reserve room in the object for all
// fields.

function requestsOf(prototype: object): AppMessages['Request'] {
  const made = function made(this: BodylessRequest, ...given: RequestArguments) {
    startRequest(this, ...given);
  };
  made.prototype = prototype;
  return Object.setPrototypeOf(made, BodylessRequest) as never;
}

function responsesOf(prototype: object): AppMessages['Response'] {
  const made = function made(this: EngineResponse, ...given: ResponseArguments) {
    startResponse(this, ...given);
  };
  made.prototype = prototype;
  return Object.setPrototypeOf(made, EngineResponse) as never;
}
