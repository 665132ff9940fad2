import type { Port as AddonPort } from '../../native.cjs';
import { OWNERS_LINE, OWNERS_NEWS, PAIR } from './wire.ts';

const { IS_HEAD_AND_STATUS, TOOK, URL_LENGTH, ID_LENGTH, WORDS } = OWNERS_LINE;
const { DUE, FULL } = OWNERS_NEWS;
const { SECOND_SHIFT } = PAIR;

/** Max lines of one call. */
const MAX_LINES = 64;
/** Max bytes of their targets and ids. The engine writes no line for longer ones. */
const TEXT_BYTES = 16 * 1024;
/** Up to this length a loop is faster than a call out of JavaScript. */
const SHORT = 64;
const [firstPrintable, lastPrintable] = [0x20, 0x7e];
const unprintable = /[^ -~]/;
const MAX_MICROS = 0xffff_ffff;

type FastBuffer = Buffer & { latin1Write(text: string, offset: number, length?: number): number };

/** A response whose line the engine should write. */
export interface LoggedResponse {
  readonly isHead: boolean;
  readonly url: string;
  /** Empty if missing. */
  readonly id: string;
  readonly status: number;
  readonly tookMs: number;
}

/**
 * Lines of responses sent by JavaScript: the engine gets those of a turn in one call, because a call takes longer than a
 * line. They are handed over before any other code reads the engine's lines.
 */
export class LineBatch {
  /** Max bytes of a target for which the engine writes a line. */
  longestUrl = 0;
  readonly #addon: AddonPort;
  readonly #server: number;
  readonly #records = new Uint32Array(MAX_LINES * WORDS);
  readonly #texts = Buffer.allocUnsafeSlow(TEXT_BYTES) as FastBuffer;
  #count = 0;
  #end = 0;
  #isFull = false;
  /** True if queued lines were reported. */
  #isReported = false;
  #onLines: (areDue: boolean) => void = () => {};
  readonly #endTurn = (): void => {
    if (this.handOver()) this.#onLines(true);
  };

  constructor(addon: AddonPort, server: number) {
    this.#addon = addon;
    this.#server = server;
  }

  /** True if the engine does not have all lines. */
  get wait(): boolean {
    return this.#count > 0;
  }

  /**
   * Adds a line. Returns false if JavaScript has to write it.
   *
   * @param onLines called for queued lines not yet reported, with `areDue`
   */
  add(response: LoggedResponse, onLines: (areDue: boolean) => void): boolean {
    const { isHead, url, id, status, tookMs } = response;
    const micros = Math.round(tookMs * 1_000);
    const length = url.length + id.length;
    if (length > TEXT_BYTES || url.length > this.longestUrl || this.#isFull) return false;
    if (!(micros >= 0 && micros <= MAX_MICROS)) return false;
    if (this.#count === MAX_LINES || this.#end + length > TEXT_BYTES) {
      this.#endTurn();
      if (this.#isFull) return false;
    }
    const start = this.#end;
    if (!this.#put(url, start)) return false;
    const urlEnd = start + url.length;
    // An unprintable id is unsafe, so the engine generates one.
    const idLength = this.#put(id, urlEnd) ? id.length : 0;
    const at = this.#count * WORDS;
    const records = this.#records;
    records[at + IS_HEAD_AND_STATUS] = Number(isHead) | (status << SECOND_SHIFT);
    records[at + TOOK] = micros;
    records[at + URL_LENGTH] = url.length;
    records[at + ID_LENGTH] = idLength;
    this.#end = urlEnd + idLength;
    this.#count += 1;
    this.#onLines = onLines;
    if (!this.#isReported) {
      this.#isReported = true;
      onLines(false);
    }
    // Runs after all responses of this turn, before any other code.
    if (this.#count === 1) process.nextTick(this.#endTurn);
    return true;
  }

  /**
   * Gives the engine the lines of this turn. Returns true if lines are due now; a caller that takes them next can ignore it.
   */
  handOver(): boolean {
    const count = this.#count;
    if (count === 0) return false;
    this.#count = 0;
    this.#end = 0;
    const flags = this.#addon.writeOwnersLines(this.#server, this.#records, count, this.#texts);
    this.#isFull = (flags & FULL) !== 0;
    return (flags & DUE) !== 0;
  }

  /** The engine's lines were taken: there may be room again, and the next line must be reported. */
  onTaken(): void {
    this.#isFull = false;
    this.#isReported = false;
  }

  /** Copies printable text into the texts. Returns false if it is not printable. */
  #put(text: string, at: number): boolean {
    const { length } = text;
    const texts = this.#texts;
    if (length > SHORT) {
      if (unprintable.test(text)) return false;
      texts.latin1Write(text, at);
      return true;
    }
    for (let index = 0; index < length; index++) {
      const code = text.charCodeAt(index);
      if (code < firstPrintable || code > lastPrintable) return false;
      texts[at + index] = code;
    }
    return true;
  }
}
