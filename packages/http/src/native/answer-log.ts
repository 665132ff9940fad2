import type { LinePlan, Port as AddonPort } from '../../native.cjs';
import { OUTSTANDING, OWNERS_LINE, PAIR } from './wire.ts';

const { LINES } = OUTSTANDING;
const { LEFT, DUE, DONE } = OWNERS_LINE;
const { SECOND_SHIFT } = PAIR;

/** Targets and ids are copied through it. Of what is longer the engine writes no line. */
const text = Buffer.allocUnsafeSlow(16 * 1024) as Buffer & {
  utf8Write(text: string, offset: number, length?: number): number;
};
/** The most bytes a character takes in UTF-8. */
const WIDEST = 3;

/** Up to here a loop takes less time than a call that leaves JavaScript. */
const SHORT = 64;

/** Copies `what` to `text` from `at` on, and says where it ends. */
function put(what: string, at: number): number {
  const { length } = what;
  if (length > SHORT) return at + text.utf8Write(what, at);
  for (let index = 0; index < length; index++) {
    const code = what.charCodeAt(index);
    if (code > 0x7f) return at + text.utf8Write(what, at);
    text[at + index] = code;
  }
  return at + length;
}

/** A response whose line the engine is to write. */
export interface LoggedResponse {
  readonly isHead: boolean;
  readonly url: string;
  /** Empty for none. */
  readonly id: string;
  readonly status: number;
  readonly tookMs: number;
}

/** The lines of a server's answers: they are in the engine until somebody takes them. */
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

  /**
   * Writes the line of a response that JavaScript has given. False where JavaScript has to.
   *
   * @param onLines called where lines wait and nobody has heard so, with whether they are due
   */
  writeOf(
    { isHead, url, id, status, tookMs }: LoggedResponse,
    onLines: (areDue: boolean) => void,
  ): boolean {
    if ((url.length + id.length) * WIDEST > text.length) return false;
    const urlEnd = put(url, 0);
    const end = put(id, urlEnd);
    const what = Number(isHead) | (status << SECOND_SHIFT);
    const outcome = this.#addon.writeOwnersLine(this.#server, what, tookMs, text, urlEnd, end);
    if (outcome > DONE) onLines(outcome === DUE);
    return outcome !== LEFT;
  }

  /** How lines look from here on; nothing is written without a plan. */
  write(plan: LinePlan | undefined): void {
    this.#addon.logLines(this.#server, plan);
  }
}
