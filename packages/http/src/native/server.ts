import type { Port as AddonPort } from '../../native.cjs';
import type { References } from './references.ts';
import type { ServerEvents } from './connection.ts';
import type { ServerSettings, SocketAddress } from './types.ts';

/** A server that listens. */
export class NativeServer {
  readonly number: number;
  readonly events: ServerEvents;
  readonly #addon: AddonPort;
  readonly #references: References;
  #settings: ServerSettings;
  #isListening = true;
  #isReferenced = true;

  constructor(
    addon: AddonPort,
    references: References,
    number: number,
    settings: ServerSettings,
    events: ServerEvents,
  ) {
    this.#addon = addon;
    this.#references = references;
    this.number = number;
    this.#settings = settings;
    this.events = events;
    references.add();
  }

  address(): SocketAddress | string | null {
    const address = this.#addon.address(this.number);
    return address === null || address.family !== '' ? address : address.address;
  }

  /** Deadlines that are running follow. */
  configure(settings: Partial<ServerSettings>): void {
    this.#settings = { ...this.#settings, ...settings };
    this.#addon.configure(this.number, this.#settings);
  }

  /** Takes no new connections. Those that are there go on; `onStopped` follows the last. */
  stop(): void {
    if (!this.#isListening) return;
    this.unref();
    this.#isListening = false;
    this.#addon.stop(this.number);
  }

  /** Closes connections between two requests. */
  closeIdle(): void {
    this.#addon.closeIdle(this.number);
  }

  closeAll(): void {
    this.#addon.closeAll(this.number);
  }

  connectionCount(): number {
    return this.#addon.connectionCount(this.number);
  }

  /**
   * Lets the engine answer GET and HEAD of exactly `url` by itself, on its own thread when it has one. `head` is the status
   * line and the headers, each ended by CRLF, with Content-Length and without Date, Connection, Keep-Alive and the empty
   * line. `timeMs` 0 is forever. Such requests are not reported.
   */
  keep(url: string, head: string, body: Uint8Array, timeMs: number): void {
    this.#addon.keep(this.number, url, Buffer.from(head, 'latin1'), body, timeMs);
  }

  /** Undoes `keep`. */
  forget(url: string): void {
    this.#addon.forget(this.number, url);
  }

  /** Serves a connection that was accepted elsewhere. The descriptor becomes the engine's. */
  adopt(fd: number): void {
    this.#addon.adopt(this.number, fd);
  }

  ref(): void {
    if (this.#isReferenced || !this.#isListening) return;
    this.#isReferenced = true;
    this.#references.add();
  }

  unref(): void {
    if (!this.#isReferenced || !this.#isListening) return;
    this.#isReferenced = false;
    this.#references.remove();
  }
}
