import type { RequestListener, Server, ServerOptions } from 'node:http';
import type { Socket } from 'node:net';
import {
  EngineResponseStore,
  kResponseStore,
  type ResponseStore,
} from '../response-store/response-store.ts';
import { maxBytesOf } from '../response-store/max-bytes.ts';
import { callLater, queueMicrotask } from '../node/clocks.ts';
import { ConnectionSocket } from '../connection/connection-socket.ts';
import { ListeningEvents } from './listening-events.ts';
import { bindHandle, listenThrough, type AcceptedHandle, type ListeningHandle } from './listen.ts';
import type { AppMessages, CustomMessages, ServingServer, StreamHandle } from '../exchange.ts';
import {
  openPort,
  startErrno,
  type NativeServer,
  type Port,
  type ServerSettings,
} from '../native/index.ts';
import { NodeServer } from '../node/node-http.ts';
import { isNode26, symbolOf, countListeners } from '../node/node-internals.ts';
import {
  nodeOnlyOption,
  kServedBy,
  engineServes,
  nodeCalls,
  nodeHasOption,
  type ServerEngine,
} from '../engine.ts';
import { isNodes } from '../node/node-sources.ts';
import { isEmitReplaced } from '../node/replaced-methods.ts';
import { replacedOfSockets } from '../node/replaced-sockets.ts';
import { ServerBase } from './server-base.ts';
import { kServerLog, ServerLog } from '../engine-log/server-log.ts';
import { proxiesOf, refuseProxies, type ResolvedProxies } from './proxy-options.ts';
import { defineSettings, settingsOf, type ConfiguredServer } from './server-settings.ts';
import { sharesServers } from './shared-servers.ts';

type ConnectionListener = (this: Server, socket: Socket) => void;
type Listener = (...args: never[]) => void;
type Listen2 = (
  this: Server,
  address: string | null,
  port: number,
  addressType: number,
  backlog: number,
  fd: number | undefined,
  flags: number | undefined,
) => void;

/** Read at call time, because user code may have replaced them. */
const nodeServer = NodeServer.prototype as unknown as {
  _listen2: Listen2;
  _emitCloseIfDrained(this: Server): void;
};

/** Parts of http.Server that Node's types leave out. */
// eslint-disable-next-line typescript/no-unsafe-declaration-merging
export interface EngineServer extends ServingServer, ConfiguredServer {
  _handle: ListeningHandle | null;
}

/** Node's default, used if `keepAliveTimeout` is off. */
const DEFAULT_KEEP_ALIVE_MS = 5000;

/**
 * An `http.Server` whose connections the native engine accepts, reads and writes. Listening, its errors, its events and the
 * options are Node's own code.
 */
// eslint-disable-next-line typescript/no-unsafe-declaration-merging
export class EngineServer extends ServerBase {
  /** @internal */
  readonly custom: CustomMessages;
  /** @internal Headers that must not be sent twice, with Node's internal symbol for them. */
  readonly uniqueHeaders: readonly [symbol, Set<string>] | undefined;
  /** @internal */
  readonly optimizesEmptyRequests: boolean;
  /** @internal */
  readonly proxies: ResolvedProxies | undefined;
  /** @internal */
  isEnding = false;
  /** @internal */
  appMessages: AppMessages | null | undefined = undefined;

  /** @internal */
  declare StreamHandle: StreamHandle;

  /** An option that only Node's own server supports: it then listens and serves. */
  readonly #nodeOption: string | undefined;

  readonly #log = new ServerLog();
  readonly #isThreaded: boolean;
  #native: NativeServer | undefined;
  /** A replaced method that only Node's own server calls. */
  #replaced: string | undefined;
  #leave: (() => void) | undefined;
  /** Connections counted by Node's own code: upgraded ones, and those that user code emits as "connection". */
  #counted = 0;
  /** Value of `_connections` at its last read. */
  #read = 0;
  #isClosing = false;
  #isAnnouncing = false;
  #isLingering = false;
  #isReconfiguring = false;
  #store: EngineResponseStore | undefined;
  readonly #storeBytes: number;
  /** Node's own listener of "connection". */
  readonly #serve: ConnectionListener;

  constructor(options: ServerOptions, listener?: RequestListener) {
    super(options, listener);
    const { IncomingMessage, ServerResponse } = options ?? {};
    this.custom = { request: IncomingMessage, response: ServerResponse } as never;
    this.optimizesEmptyRequests =
      (options as { optimizeEmptyRequests?: boolean } | undefined)?.optimizeEmptyRequests === true;
    this.#isThreaded = (options as { threaded?: boolean } | undefined)?.threaded === true;
    this.#nodeOption = nodeOnlyOption(options);
    this.#storeBytes = maxBytesOf(options);
    this.proxies = proxiesOf(options);
    if (this.#nodeOption !== undefined) {
      refuseProxies(options, `only Node supports ${this.#nodeOption}`);
    }
    const key = symbolOf(this, 'kUniqueHeaders');
    const names = key && (this as never as Record<symbol, Set<string> | null>)[key];
    if (key && names) this.uniqueHeaders = [key, names];

    // Node's own listener serves connections emitted by user code: any duplex stream.
    const serve = (socket: Socket): void => {
      if (!(socket instanceof ConnectionSocket)) this.serveByNode(socket);
    };
    const events = this._events!;
    const { connection } = events as { connection: ConnectionListener | ConnectionListener[] };
    if (Array.isArray(connection)) {
      // The server was made by Node, and listeners were added since.
      const at = connection.findIndex((each) => isNodes(each));
      this.#serve = connection[at]!;
      connection[at] = serve;
    } else {
      this.#serve = connection;
      events['connection'] = serve;
    }
  }

  // net.Server counts its connections here; the engine's are not among them.
  get _connections(): number {
    this.#read = (this.#native?.connectionCount() ?? 0) + this.#counted;
    return this.#read;
  }
  // Node's own code writes one more or one less than it has read; the difference counts, because a thread of the engine may
  // have opened or closed connections in between. net.Server's constructor writes before this class has its fields.
  set _connections(value: number) {
    if (#counted in this) this.#counted += value - this.#read;
  }

  // Called at the end of net.Server.listen, once names are resolved.
  _listen2(...[address, port, addressType, backlog, fd, flags]: Parameters<Listen2>): void {
    this.#native = undefined;
    this.#replaced = this.#replacedMethod();
    if (this.#nodeOption !== undefined || this.#replaced !== undefined) {
      nodeServer._listen2.call(this, address, port, addressType, backlog, fd, flags);
      return;
    }
    if (this._handle === null) {
      const bound = bindHandle({ address, port, addressType, fd, flags });
      ({ address, addressType } = bound);
      this._handle = bound.handle;
    }
    const events = new ListeningEvents(this, this.#log);
    this.isEnding = false;
    this.StreamHandle = this._handle!.constructor as never;
    const from = this.proxies?.from;
    this.#leave = listenThrough(this._handle!, {
      accept: (descriptor, length) => {
        const options = { fd: descriptor, backlog: length | 0 };
        return this.#begin((opened) => opened.listen(options, this.#settings(), events, from));
      },
      serve: () => this.#begin((opened) => opened.serve(this.#settings(), events, from)),
      adopt: (client) => this.#adopt(client),
    });
    nodeServer._listen2.call(this, address, port, addressType, backlog, fd, flags);
  }

  #settings(): ServerSettings {
    this.#isAnnouncing = isEmitReplaced(this) || countListeners(this, 'connection') > 1;
    return settingsOf(this, this.#isAnnouncing);
  }

  #begin(serve: (port: Port) => NativeServer | number): NativeServer | number {
    let port: Port;
    try {
      port = openPort(this.#isThreaded);
    } catch (error) {
      // Becomes an "error" event of listen, like any other system error.
      const errno = startErrno(error);
      if (errno === undefined) throw error;
      return -errno;
    }
    const native = serve(port);
    if (typeof native === 'number') return native;
    this.#native = native;
    if (this.#store !== undefined || sharesServers()) this.#openStore();
    this.#log.begin(native);
    return native;
  }

  /** Takes over a connection. Node's own code refuses it at the limit, and serves it if the engine cannot. */
  #adopt(client: AcceptedHandle): boolean {
    const { fd = -1 } = client;
    if (this.#isNodes()) return false;
    // The handle of a worker has no class of its own; its connections have.
    this.StreamHandle = client.constructor as never;
    const { maxConnections } = this;
    if (maxConnections != null && this._connections >= maxConnections) return false;
    const isTaken = fd >= 0 && this.#native?.adopt(fd) === true;
    // With trusted proxies, a connection that the engine cannot take, because descriptors are exhausted, is closed: Node
    // would serve any peer.
    return isTaken || this.proxies !== undefined;
  }

  /** Returns true if a method that only Node's own server calls was replaced. */
  #isNodes(): boolean {
    this.#replaced ??= this.#replacedMethod();
    return this.#replaced !== undefined;
  }

  /** Ignored with trusted proxies: Node would also serve clients outside the list. */
  #replacedMethod(): string | undefined {
    return this.proxies === undefined ? replacedOfSockets() : undefined;
  }

  override close(...given: [callback?: (error?: Error) => void]): this {
    this.#isClosing = true;
    // Clients that never pause would keep their connections open: they get the time of an idle one.
    const keepMs = this.keepAliveTimeout || DEFAULT_KEEP_ALIVE_MS;
    callLater(() => {
      if (this.#isClosing) this.endConnections();
    }, keepMs);
    return super.close(...given);
  }

  /**
   * @internal Makes every response end its connection. Idle connections stay open for `lingerMs`: their next request may be
   *   on its way.
   */
  endConnections(lingerMs = 0): void {
    this.isEnding = true;
    this.#native?.closeStore();
    if (lingerMs === 0) return;
    this.#isLingering = true;
    callLater(() => {
      this.#isLingering = false;
      this.closeIdleConnections();
    }, lingerMs);
  }

  /** @internal Node's method emits "close" on every call; the engine calls it more often. */
  _emitCloseIfDrained(): void {
    if (!(#isClosing in this)) return;
    if (this._handle === null) {
      if (!this.#isClosing) return;
      if (this._connections === 0) this.#isClosing = false;
    }
    nodeServer._emitCloseIfDrained.call(this);
  }

  /** @internal */
  onStopped(): void {
    if (this.#isClosing) this._emitCloseIfDrained();
  }

  override closeIdleConnections(): void {
    if (#isLingering in this && this.#isLingering) return;
    super.closeIdleConnections();
    // Responses of this turn may still be queued: until they are sent, their connections are not idle.
    if (this.#native !== undefined) openPort(this.#isThreaded).flush();
    // Node 26 counts connections that have sent nothing as idle.
    this.#native?.closeIdle(isNode26);
  }

  override closeAllConnections(): void {
    super.closeAllConnections();
    this.#native?.closeAll();
  }

  override on(event: string | symbol, listener: Listener): this {
    super.on(event as string, listener as never);
    this._noticeListener(event);
    return this;
  }

  override addListener(event: string | symbol, listener: Listener): this {
    super.addListener(event as string, listener as never);
    this._noticeListener(event);
    return this;
  }

  override once(event: string | symbol, listener: Listener): this {
    super.once(event as string, listener as never);
    this._noticeListener(event);
    return this;
  }

  override prependListener(event: string | symbol, listener: Listener): this {
    super.prependListener(event as string, listener as never);
    this._noticeListener(event);
    return this;
  }

  override prependOnceListener(event: string | symbol, listener: Listener): this {
    super.prependOnceListener(event as string, listener as never);
    this._noticeListener(event);
    return this;
  }

  /** @internal The engine reports connections only if there are listeners. */
  _noticeListener(event: string | symbol): void {
    // The constructor of http.Server adds listeners before this class has its fields.
    if (event !== 'connection' || !(#native in this)) return;
    if (this.#native === undefined || this.#isAnnouncing) return;
    this.#isAnnouncing = true;
    this.#native.configure({ announceConnections: true });
  }

  /** @internal Passes changed properties to the engine, once for all changes of a tick. */
  reconfigure(): void {
    if (!(#native in this) || this.#native === undefined || this.#isReconfiguring) return;
    this.#isReconfiguring = true;
    queueMicrotask(() => {
      this.#isReconfiguring = false;
      this.#native?.configure(settingsOf(this, this.#isAnnouncing));
    });
  }

  /** @internal */
  leaveToNode(replaced: string): void {
    if (this.#replaced !== undefined || this._handle === null || this.proxies !== undefined) return;
    this.#replaced = replaced;
    this.#leave?.();
  }

  /** @internal For `engine(server)`. */
  servedBy(): ServerEngine {
    if (this.#nodeOption !== undefined) return nodeHasOption(this.#nodeOption);
    if (!this.listening) return { name: 'none', reason: 'it does not listen' };
    return this.#replaced === undefined ? engineServes() : nodeCalls(this.#replaced);
  }

  /** @internal For `responseStoreOf(server)`. */
  responseStore(): ResponseStore | undefined {
    // The prototype has this property too.
    if (!(#nodeOption in this) || this.#nodeOption !== undefined) return undefined;
    if (this.#store === undefined) {
      this.#store = new EngineResponseStore({
        log: this.#log,
        ticket: () => openPort(this.#isThreaded).ticket(),
        native: () => (this.listening ? this.#native : undefined),
        limitsRequests: () => (this.maxRequestsPerSocket ?? 0) > 0,
      });
      if (this.listening && !this.isEnding) this.#openStore();
    }
    return this.#store;
  }

  #openStore(): void {
    this.#native?.openStore(this.#storeBytes, sharesServers());
  }

  /** @internal */
  serveByNode(socket: Socket): void {
    this.#serve(socket);
  }

  /** @internal Counts a connection that was moved to Node. */
  countDetached(): void {
    this.#counted += 1;
  }

  /** @internal The log of the stored responses. */
  serverLog(): ServerLog {
    return this.#log;
  }
}

// Shown by console.log and error messages.
Object.defineProperty(EngineServer, 'name', { value: 'Server' });
defineSettings(EngineServer.prototype);
Object.defineProperty(EngineServer.prototype, kServerLog, {
  get: EngineServer.prototype.serverLog,
});
Object.defineProperty(EngineServer.prototype, kResponseStore, {
  get: EngineServer.prototype.responseStore,
});
Object.defineProperty(EngineServer.prototype, kServedBy, {
  value: EngineServer.prototype.servedBy,
});
