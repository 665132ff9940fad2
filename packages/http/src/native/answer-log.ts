import type { LinePlan, Port as AddonPort } from '../../native.cjs';
import { OUTSTANDING } from './wire.ts';

const { LINES } = OUTSTANDING;

/** The lines of what a server answers by itself: they are in the engine until somebody takes them. */
export class AnswerLog {
  readonly #addon: AddonPort;
  readonly #commands: Uint32Array;
  readonly #server: number;

  constructor(addon: AddonPort, commands: Uint32Array, server: number) {
    this.#addon = addon;
    this.#commands = commands;
    this.#server = server;
  }

  /** Whether lines wait, of this server or of another. Costs a look at memory. */
  get waits(): boolean {
    return Atomics.load(this.#commands, LINES) !== 0;
  }

  /** Moves the oldest lines, whole ones, to `into` from `offset` on, and says how many bytes. */
  take(into: Buffer, offset: number): number {
    return this.#addon.takeLines(this.#server, into, offset);
  }

  /** From here on every request of which a line is due goes to JavaScript. */
  hold(): void {
    this.#addon.holdAnswers(this.#server);
  }

  /** How lines look from here on; nothing is written without a plan. */
  write(plan: LinePlan | undefined): void {
    this.#addon.logLines(this.#server, plan);
  }
}
