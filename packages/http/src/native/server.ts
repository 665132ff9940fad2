import type { Port as AddonPort } from '../../native.cjs';
import type { LineLog } from './line-log.ts';
import type { ServerEvents } from './connection.ts';
import type { Fill, ServerSettings, SocketAddress } from './types.ts';

/** The port that a server listens through. */
export interface ServingPort {
  readonly addon: AddonPort;
  readonly references: References;
}

/** Receives the events of its connections, and its lines. */
export interface ServerOwner {
  readonly events: ServerEvents;
  readonly log: LineLog;
}

export class NativeServer {
  readonly number: number;
  readonly events: ServerEvents;
  /** The lines of the server's stored responses. */
  readonly log: LineLog;
  readonly #addon: AddonPort;
  readonly #references: References;
  #settings: ServerSettings;
  #isListening = true;
  #isReferenced = true;

  constructor(port: ServingPort, number: number, settings: ServerSettings, owner: ServerOwner) {
    this.#addon = port.addon;
    this.#references = port.references;
    this.number = number;
    this.#settings = settings;
    this.events = owner.events;
    this.log = owner.log;
    port.references.add();
  }

  address(): SocketAddress | string | null {
    const address = this.#addon.address(this.number);
    return address === null || address.family !== '' ? address : address.address;
  }

  /** Running deadlines are adjusted. */
  configure(settings: Partial<ServerSettings>): void {
    this.#settings = { ...this.#settings, ...settings };
    this.#addon.configure(this.number, this.#settings);
  }

  /** Stops accepting. Existing connections continue; `onStopped` follows the last. */
  stop(): void {
    if (!this.#isListening) return;
    this.unref();
    this.#isListening = false;
    this.#addon.stop(this.number);
  }

  /** Closes connections between two requests; with `withUnused`, also those that have sent nothing. */
  closeIdle(withUnused: boolean): void {
    this.#addon.closeIdle(this.number, withUnused);
  }

  closeAll(): void {
    this.#addon.closeAll(this.number);
  }

  connectionCount(): number {
    return this.#addon.connectionCount(this.number);
  }

  /**
   * Lets the engine send stored responses, from a store of the server's own or, with `isShared`, of its address. `stop` ends it.
   */
  openStore(maxBytes: number, isShared: boolean): void {
    this.#addon.openAnswers(this.number, maxBytes, isShared);
  }

  closeStore(): void {
    this.#addon.closeAnswers(this.number);
  }

  /** Stores a response for GET and HEAD requests, which are then not reported. Returns one of `OUTCOME`. */
  keep(fill: Fill): number {
    return this.#addon.keep(this.number, fill);
  }

  /** Counts a response that was not passed to the engine. */
  countOutcome(outcome: number): void {
    this.#addon.countOutcome(this.number, outcome);
  }

  dropTarget(target: string): void {
    this.#addon.dropTarget(this.number, target);
  }

  dropTags(tags: readonly string[]): void {
    this.#addon.dropTags(this.number, tags as string[]);
  }

  clearStore(): void {
    this.#addon.clearAnswers(this.number);
  }

  /** Returns counts in the order of `ANSWER_COUNT`; empty without a store. */
  storeCounts(): readonly number[] {
    return this.#addon.answerCounts(this.number);
  }

  /** Serves a connection accepted elsewhere, on a copy of its descriptor. Returns false if descriptors are exhausted. */
  adopt(fd: number): boolean {
    return this.#addon.adopt(this.number, fd);
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

/** Counts the servers that keep the loop alive. */
export class References {
  readonly #addon: AddonPort;
  #count = 0;

  constructor(addon: AddonPort) {
    this.#addon = addon;
  }

  add(): void {
    this.#addon.setReferencedServers(++this.#count);
  }

  remove(): void {
    this.#addon.setReferencedServers(--this.#count);
  }
}
