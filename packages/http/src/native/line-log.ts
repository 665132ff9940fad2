import type { LinePlan, Port as AddonPort } from '../../native.cjs';
import { LineBatch, type LoggedResponse } from './line-batch.ts';
import { OUTSTANDING } from './wire.ts';

const { LINES } = OUTSTANDING;
type Begins = LinePlan['begins'];

/** The log lines of a server's stored responses, queued in the engine until they are taken. */
export class LineLog {
  readonly #addon: AddonPort;
  readonly #commands: Uint32Array;
  readonly #server: number;
  /** Undefined before the first line plan. */
  #batch: LineBatch | undefined;
  /** The start of a line by level; a level without one is not logged. */
  #begins: Begins | undefined;
  #reportsErrors = false;
  #isHeld = false;

  constructor(addon: AddonPort, commands: Uint32Array, server: number) {
    this.#addon = addon;
    this.#commands = commands;
    this.#server = server;
  }

  /** True if lines of this or another server are queued. Costs one memory read. */
  get waits(): boolean {
    return this.#batch?.wait === true || Atomics.load(this.#commands, LINES) !== 0;
  }

  /** Moves the oldest whole lines to `into`, starting at `offset`; returns the number of bytes. */
  take(into: Buffer, offset: number): number {
    this.#batch?.handOver();
    this.#batch?.onTaken();
    return this.#addon.takeLines(this.#server, into, offset);
  }

  /** Has every request that needs a line passed to JavaScript. */
  hold(): void {
    this.#batch?.handOver();
    this.#isHeld = true;
    this.#addon.holdAnswers(this.#server);
  }

  /**
   * Writes the line of a response sent by JavaScript. Returns false if JavaScript has to write it.
   *
   * @param onLines called for queued lines not yet reported, with `areDue`
   */
  writeOf(response: LoggedResponse, onLines: (areDue: boolean) => void): boolean {
    const { status } = response;
    const level = Number(status >= 400) + Number(status >= 500);
    if (this.#batch === undefined || this.#begins === undefined || this.#isHeld) return false;
    if (this.#reportsErrors && level > 0) return false;
    if (typeof this.#begins[level] !== 'string') return true;
    return this.#batch.add(response, onLines);
  }

  /** Sets the form of lines; without a plan, none are written. */
  write(plan: LinePlan | undefined): void {
    this.#batch?.handOver();
    this.#begins = plan?.begins;
    this.#reportsErrors = plan?.reportsErrors === true;
    const longestUrl = this.#addon.logLines(this.#server, plan);
    if (plan === undefined) return;
    this.#batch ??= new LineBatch(this.#addon, this.#server);
    this.#batch.longestUrl = longestUrl;
  }
}
