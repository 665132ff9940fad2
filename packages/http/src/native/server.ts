import type { Port as AddonPort } from '../../native.cjs';
import type { References } from './references.ts';
import type { AnswerLog } from './answer-log.ts';
import type { ServerEvents } from './connection.ts';
import type { Fill, ServerSettings, SocketAddress } from './types.ts';

/** The port that a server listens through. */
export interface ServingPort {
  readonly addon: AddonPort;
  readonly references: References;
}

/** Who hears of its connections, and of its lines. */
export interface ServerOwner {
  readonly events: ServerEvents;
  readonly log: AnswerLog;
}

/** A server that listens. */
export class NativeServer {
  readonly number: number;
  readonly events: ServerEvents;
  /** The lines of what it answers by itself. */
  readonly log: AnswerLog;
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

  /** Closes connections between two requests, and `withUnused` those that have sent nothing. */
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
   * From now on the server may answer by itself, out of a store of its own or, with `isShared`, of its address. It ends with
   * `stop`.
   */
  openAnswers(maxBytes: number, isShared: boolean): void {
    this.#addon.openAnswers(this.number, maxBytes, isShared);
  }

  closeAnswers(): void {
    this.#addon.closeAnswers(this.number);
  }

  /** Keeps an answer to GET and HEAD requests, which are then not reported. Returns one of `OUTCOME`. */
  keep(fill: Fill): number {
    return this.#addon.keep(this.number, fill);
  }

  /** Counts an answer that was not handed over. */
  countOutcome(outcome: number): void {
    this.#addon.countOutcome(this.number, outcome);
  }

  dropTarget(target: string): void {
    this.#addon.dropTarget(this.number, target);
  }

  dropTags(tags: readonly string[]): void {
    this.#addon.dropTags(this.number, tags as string[]);
  }

  clearAnswers(): void {
    this.#addon.clearAnswers(this.number);
  }

  /** In the order of `ANSWER_COUNT`; empty without a store. */
  answerCounts(): readonly number[] {
    return this.#addon.answerCounts(this.number);
  }

  /** Serves a connection that was accepted elsewhere, on a copy of its descriptor. False when no descriptor is left. */
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
