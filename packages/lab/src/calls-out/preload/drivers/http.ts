import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { CallFacts, CallRecorder, OpenCall } from '../recorder.ts';
import { wordPattern } from '../patterns.ts';
import { wrapMethod } from './driver.ts';

type Message = Record<string, unknown>;

interface UndiciRequest {
  origin: string | URL;
  method: string;
  path: string;
}

/**
 * Records requests of node:http, and of undici, which `fetch` is made of. Their channels have subscribers only while calls are
 * recorded. A request ends when the body of its response has arrived.
 */
export function watchHttpCalls(recorder: CallRecorder): void {
  const open = new WeakMap<object, OpenCall>();
  const begin = (request: object, describe: () => CallFacts): void => {
    const call = open.has(request) ? undefined : recorder.begin(describe);
    if (call !== undefined) open.set(request, call);
  };
  const end = (request: object, error?: unknown): void => open.get(request)?.end(error);
  const ofNode = ({ request }: Message): void =>
    begin(request as object, () => factsOfNode(request as ClientRequest));
  const handlers: Record<string, (message: Message) => void> = {
    // From Node 22.12; the other one is published when the request is sent.
    'http.client.request.created': ofNode,
    'http.client.request.start': ofNode,
    'http.client.request.error': ({ request, error }) => end(request as object, error),
    'http.client.response.finish': ({ request, response }) =>
      void (response as IncomingMessage).once('close', () => end(request as object)),
    'undici:request:create': ({ request }) =>
      begin(request as object, () => factsOfUndici(request as UndiciRequest)),
    'undici:request:trailers': ({ request }) => end(request as object),
    'undici:request:error': ({ request, error }) => end(request as object, error),
  };
  const all = Object.entries(handlers) as [string, (message: unknown) => void][];
  recorder.sources.push({
    start: () => all.forEach(([channel, handler]) => subscribe(channel, handler)),
    stop: () => all.forEach(([channel, handler]) => unsubscribe(channel, handler)),
  });
  wrapFetch(recorder);
}

/** Keeps the function of the app that calls `fetch`: undici creates the request in a later turn. */
function wrapFetch(recorder: CallRecorder): void {
  wrapMethod(
    globalThis,
    'fetch',
    (fetch) =>
      function (this: unknown, ...args) {
        return recorder.isOn
          ? recorder.calledHere(() => fetch.apply(this, args))
          : fetch.apply(this, args);
      },
  );
}

function factsOfNode(request: ClientRequest): CallFacts {
  const { method, protocol, path, host } = request;
  const named = request.getHeader('host');
  return facts(method, `${protocol}//${typeof named === 'string' ? named : host}`, path);
}

function factsOfUndici({ method, origin, path }: UndiciRequest): CallFacts {
  return facts(method, new URL(origin).origin, path);
}

function facts(method: string, origin: string, path: string): CallFacts {
  const [plain = ''] = path.split(/[?#]/, 1);
  return {
    system: 'HTTP',
    text: `${method} ${origin}${wordPattern(plain)}`,
    // The body is not known here: only requests without one are compared.
    values: /^(GET|HEAD)$/.test(method) ? path : Math.random(),
  };
}
