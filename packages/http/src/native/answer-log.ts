import type { LinePlan, Port as AddonPort } from '../../native.cjs';
import { OwnersLines, type LoggedResponse } from './owners-lines.ts';
import { OUTSTANDING } from './wire.ts';

const { LINES } = OUTSTANDING;
type Begins = LinePlan['begins'];

/** The lines of a server's answers: they are in the engine until somebody takes them. */
export class AnswerLog {
  readonly #addon: AddonPort;
  readonly #commands: Uint32Array;
  readonly #server: number;
  /** Undefined until lines are written. */
  #owners: OwnersLines | undefined;
  /** What lines begin with, by level: none is written where there is nothing. */
  #begins: Begins | undefined;
  #reportsErrors = false;
  #isHeld = false;

  constructor(addon: AddonPort, commands: Uint32Array, server: number) {
    this.#addon = addon;
    this.#commands = commands;
    this.#server = server;
  }

  /** Whether lines wait, of this server or of another. Costs a look at memory. */
  get waits(): boolean {
    return this.#owners?.wait === true || Atomics.load(this.#commands, LINES) !== 0;
  }

  /** Moves the oldest lines, whole ones, to `into` from `offset` on, and says how many bytes. */
  take(into: Buffer, offset: number): number {
    this.#owners?.handOver();
    this.#owners?.onTaken();
    return this.#addon.takeLines(this.#server, into, offset);
  }

  /** From here on every request of which a line is due goes to JavaScript. */
  hold(): void {
    this.#owners?.handOver();
    this.#isHeld = true;
    this.#addon.holdAnswers(this.#server);
  }

  /**
   * Writes the line of a response that JavaScript has given. False where JavaScript has to.
   *
   * @param onLines called where lines wait and nobody has heard so, with whether they are due
   */
  writeOf(response: LoggedResponse, onLines: (areDue: boolean) => void): boolean {
    const { status } = response;
    const level = Number(status >= 400) + Number(status >= 500);
    if (this.#owners === undefined || this.#begins === undefined || this.#isHeld) return false;
    if (this.#reportsErrors && level > 0) return false;
    if (typeof this.#begins[level] !== 'string') return true;
    return this.#owners.add(response, onLines);
  }

  /** How lines look from here on; nothing is written without a plan. */
  write(plan: LinePlan | undefined): void {
    this.#owners?.handOver();
    this.#begins = plan?.begins;
    this.#reportsErrors = plan?.reportsErrors === true;
    const longestUrl = this.#addon.logLines(this.#server, plan);
    if (plan === undefined) return;
    this.#owners ??= new OwnersLines(this.#addon, this.#server);
    this.#owners.longestUrl = longestUrl;
  }
}
