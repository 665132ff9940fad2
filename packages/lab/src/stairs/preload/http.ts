import http, { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { followEvents, watchEvents } from './request-events.ts';
import { cutException, hasEndedEarly, type StairsState, type WatchedResponse } from './state.ts';
import { whole } from './protocol.ts';

type Method = (this: ServerResponse, ...args: never[]) => unknown;

/** Methods that send something. The first call of one of these is the stage "send". */
const sending = ['writeHead', 'write', 'end', 'flushHeaders', 'writeProcessing'] as const;
/** Methods that would throw after the headers were sent. */
const preparing = ['setHeader', 'setHeaders', 'appendHeader', 'removeHeader'] as const;

const ofBody = ['content-length', 'content-encoding', 'transfer-encoding'];

/** Counts requests, tracks the current response, and makes ended responses inert. */
export function watchHttp(state: StairsState, onListening: () => void): void {
  const { end, hasHeader, removeHeader } = http.ServerResponse.prototype;
  state.answer = (response) => {
    if (!response.headersSent) {
      response.statusCode = 200;
      // Headers that the app has prepared stay, and are part of its cost; but there is no body of this size.
      for (const name of ofBody) {
        if (hasHeader.call(response, name)) removeHeader.call(response, name);
      }
    }
    (end as Method).call(response);
  };
  ignoreCallsOfEnded(http.ServerResponse.prototype as never, state);
  watchEvents(state);
  for (const { prototype } of [http.Server, https.Server])
    watchServer(prototype, state, onListening);
}

function watchServer(prototype: Server, state: StairsState, onListening: () => void): void {
  const emit = prototype.emit as (this: Server, event: string, ...args: unknown[]) => boolean;
  const { stages, listenPort, followsAsync, phase } = state.settings;
  const first = stages['request'] ?? -1;
  const keepsContext = followsAsync || phase === 'trace';
  const serve = (server: Server, request: IncomingMessage, response: ServerResponse): boolean => {
    state.current = response;
    try {
      return emit.call(server, 'request', request, response);
    } catch (error) {
      if (error !== cutException) throw error;
      state.leave();
      return true;
    } finally {
      state.current = undefined;
    }
  };
  prototype.emit = function (this: Server, event: string, ...args: unknown[]): boolean {
    if (event === 'request') {
      const [request, response] = args as [IncomingMessage, WatchedResponse];
      response[hasEndedEarly] = false;
      if (keepsContext) followEvents(request, response);
      state.requests++;
      if (state.k <= first) {
        state.current = response;
        const hasEnded = state.cut(first);
        state.leave();
        state.current = undefined;
        if (hasEnded) return true;
      }
      return keepsContext
        ? state.responses.run(response, serve, this, request, response)
        : serve(this, request, response);
    }
    if (event === 'listening' && (this.address() as AddressInfo | null)?.port === listenPort) {
      onListening();
    }
    return emit.call(this, event, ...args);
  } as typeof prototype.emit;
}

function ignoreCallsOfEnded(prototype: Record<string, Method>, state: StairsState): void {
  const isTracing = state.settings.phase === 'trace';
  const isHalted = (response: WatchedResponse): boolean =>
    response[hasEndedEarly] === true || (state.k <= state.sendStage && state.cut(state.sendStage));
  for (const name of sending) {
    const method = prototype[name];
    if (method === undefined) continue;
    prototype[name] = isTracing
      ? function (this: ServerResponse, ...args: never[]): unknown {
          state.onEnter?.('send', { kind: 'send', name: 'write answer' });
          return method.apply(this, args);
        }
      : function (this: ServerResponse): unknown {
          if (state.k < whole && !isAnswering && isHalted(this)) return answerOf(name, this);
          if (name === 'end' && this.statusCode >= 400) state.failures++;
          // oxlint-disable-next-line prefer-rest-params
          return method.apply(this, arguments as never);
        };
  }
  for (const name of preparing) {
    const method = prototype[name];
    if (method === undefined || isTracing) continue;
    prototype[name] = function (this: WatchedResponse): unknown {
      if (state.k < whole && this[hasEndedEarly]) return this;
      // oxlint-disable-next-line prefer-rest-params
      return method.apply(this, arguments as never);
    };
  }
  // The empty response itself goes through writeHead, which must not count it as a call of the app.
  let isAnswering = false;
  const { answer } = state;
  state.answer = (response) => {
    isAnswering = true;
    try {
      answer(response);
    } finally {
      isAnswering = false;
    }
  };
}

function answerOf(name: (typeof sending)[number], response: ServerResponse): unknown {
  return name === 'write' ? true : response;
}
