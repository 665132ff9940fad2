import { AsyncResource } from 'node:async_hooks';
import { answerTo } from '../connection/client-error.ts';
import { HttpConnection } from '../connection/connection.ts';
import { announceSocket } from '../connection/connection-socket.ts';
import { giveToNode } from '../connection/upgrade.ts';
import { parseError, requestTimeout } from '../errors.ts';
import type { ServingServer } from '../exchange.ts';
import type {
  ClientError,
  Connection as NativeConnection,
  HeaderBlock,
  ServerEvents,
  SocketAddress,
} from '../native/index.ts';
import { hasListener } from '../node/node-internals.ts';
import { lookForHttpObserver } from '../node/performance-entries.ts';
import { isEmitReplaced } from '../node/replaced-methods.ts';
import { replacedOfSockets } from '../node/replaced-sockets.ts';
import { fail, receive } from './receive.ts';
import { completeBody, pushBody } from '../request/request-body.ts';
import type { ServerLog } from '../engine-log/server-log.ts';

/** A server whose connections are served by the engine. */
interface ListeningServer extends ServingServer {
  readonly httpAllowHalfOpen: boolean;
}

/** Passes the engine's events of a listening server to its connections, each in its own async context. */
export class ListeningEvents implements ServerEvents {
  readonly #server: ListeningServer;
  readonly #log: ServerLog;
  /** As in Node, requests begin in the context of the caller of listen. */
  readonly #listening = new AsyncResource('HTTPSERVER');

  constructor(server: ListeningServer, log: ServerLog) {
    this.#server = server;
    this.#log = log;
  }

  onOpen(native: NativeConnection): void {
    const connection = this.#make(native);
    connection.runInAsyncScope(announce, undefined, this.#server, connection);
  }

  onRequest(
    native: NativeConnection,
    sequence: number,
    method: string,
    url: string,
    flags: number,
    headers: HeaderBlock,
    body: Buffer | undefined,
  ): void {
    const connection = (native.owner as HttpConnection | undefined) ?? this.#connectionOf(native);
    // A replaced `emit` of the server may have destroyed it.
    if (native.destroyed || native.closed) return;
    connection.runInAsyncScope(
      receive,
      undefined,
      connection,
      sequence,
      method,
      url,
      flags,
      headers,
      body,
    );
  }

  onBody(native: NativeConnection, _sequence: number, chunk: Buffer): void {
    const connection = native.owner as HttpConnection;
    if (connection.incoming !== null) {
      connection.runInAsyncScope(pushBody, undefined, connection, chunk);
    }
  }

  onBodyEnd(native: NativeConnection, _sequence: number, trailers: string[]): void {
    const connection = native.owner as HttpConnection;
    if (connection.incoming !== null) {
      connection.runInAsyncScope(completeBody, undefined, connection, trailers);
    }
  }

  onDrain(native: NativeConnection): void {
    (native.owner as HttpConnection | undefined)?.onDrain();
  }

  onFile(native: NativeConnection): void {
    (native.owner as HttpConnection | undefined)?.onFile();
  }

  onClientError(native: NativeConnection, found: ClientError): void {
    const connection = native.owner as HttpConnection | undefined;
    if (connection === undefined && !this.#mayHaveListeners('clientError')) {
      native.writeRaw(answerTo(found.code));
      native.closeSoon();
      return;
    }
    const { code, reason, bytesParsed, rawPacket, place } = found;
    const error =
      code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? requestTimeout()
        : parseError(code, reason, bytesParsed, rawPacket);
    const target = connection ?? this.#connectionOf(native);
    target.runInAsyncScope(fail, undefined, target, error, place);
  }

  onTimeout(native: NativeConnection): void {
    const connection = native.owner as HttpConnection | undefined;
    if (connection === undefined && !this.#mayHaveListeners('timeout')) {
      native.destroy();
      return;
    }
    const target = connection ?? this.#connectionOf(native);
    target.runInAsyncScope(target.onTimeout, target);
  }

  /** The client has ended its side while responses are pending. */
  onEnd(native: NativeConnection): void {
    const connection = native.owner as HttpConnection | undefined;
    if (connection === undefined) native.closeSoon();
    else connection.runInAsyncScope(connection.onEnd, connection, this.#server.httpAllowHalfOpen);
  }

  onClose(native: NativeConnection, errno: number): void {
    const isErrorHandled = errno !== 0 && this.#mayHaveListeners('clientError');
    const connection =
      (native.owner as HttpConnection | undefined) ??
      (isErrorHandled ? this.#connectionOf(native) : undefined);
    if (connection === undefined) this.#server._emitCloseIfDrained();
    else connection.runInAsyncScope(connection.onClose, connection, errno);
  }

  onDrop(remote: SocketAddress, local: SocketAddress): void {
    this.#server.emit('drop', {
      localAddress: local.address,
      localPort: local.port,
      localFamily: local.family,
      remoteAddress: remote.address,
      remotePort: remote.port,
      remoteFamily: remote.family,
    });
  }

  onLines(areDue: boolean): void {
    this.#log.onLines(areDue);
  }

  onExit(): void {
    this.#log.onExit();
  }

  onStopped(): void {
    this.#log.onStopped();
    this.#server.onStopped();
  }

  #mayHaveListeners(event: string): boolean {
    return isEmitReplaced(this.#server) || hasListener(this.#server, event);
  }

  /** Creates the connection object of a connection that was not announced. */
  #connectionOf(native: NativeConnection): HttpConnection {
    const server = this.#server;
    const connection = this.#make(native);
    if (isEmitReplaced(server)) {
      // `emit` was replaced after the server began to listen.
      server._noticeListener('connection');
      connection.runInAsyncScope(announce, undefined, server, connection);
    }
    const replaced = replacedOfSockets();
    if (replaced !== undefined) server.leaveToNode(replaced);
    return connection;
  }

  #make(native: NativeConnection): HttpConnection {
    lookForHttpObserver();
    const connection = this.#listening.runInAsyncScope(
      makeConnection,
      undefined,
      native,
      this.#server,
    );
    native.owner = connection;
    return connection;
  }
}

function makeConnection(native: NativeConnection, server: ListeningServer): HttpConnection {
  return new HttpConnection(native, server);
}

function announce(server: ListeningServer, connection: HttpConnection): void {
  const socket = connection.socket();
  announceSocket(
    socket,
    () => giveToNode(connection),
    () => server.emit('connection', socket),
  );
}
