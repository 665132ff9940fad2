import type { Port as AddonPort } from '../../native.cjs';
import { OWNERS_LINE, OWNERS_NEWS, PAIR } from './wire.ts';

const { IS_HEAD_AND_STATUS, TOOK, URL_LENGTH, ID_LENGTH, WORDS } = OWNERS_LINE;
const { DUE, FULL } = OWNERS_NEWS;
const { SECOND_SHIFT } = PAIR;

/** Lines of one call. */
const MOST = 64;
/** Bytes of their targets and ids. Of what is longer the engine writes no line. */
const TEXT_BYTES = 16 * 1024;
/** Up to here a loop takes less time than a call that leaves JavaScript. */
const SHORT = 64;
const [firstPrintable, lastPrintable] = [0x20, 0x7e];
const unprintable = /[^ -~]/;
const mostMicros = 0xffff_ffff;

type FastBuffer = Buffer & { latin1Write(text: string, offset: number, length?: number): number };

/** A response whose line the engine is to write. */
export interface LoggedResponse {
  readonly isHead: boolean;
  readonly url: string;
  /** Empty for none. */
  readonly id: string;
  readonly status: number;
  readonly tookMs: number;
}

/**
 * Lines of responses that JavaScript has given: the engine gets those of a turn in one call, because a call takes longer than a
 * line. It has them before anything else looks at its lines.
 */
export class OwnersLines {
  /** Bytes of the longest target of which the engine writes a line. */
  longestUrl = 0;
  readonly #addon: AddonPort;
  readonly #server: number;
  readonly #records = new Uint32Array(MOST * WORDS);
  readonly #texts = Buffer.allocUnsafeSlow(TEXT_BYTES) as FastBuffer;
  #count = 0;
  #end = 0;
  #isFull = false;
  /** Whether it was reported that lines wait. */
  #isTold = false;
  #onLines: (areDue: boolean) => void = () => {};
  readonly #endTurn = (): void => {
    if (this.handOver()) this.#onLines(true);
  };

  constructor(addon: AddonPort, server: number) {
    this.#addon = addon;
    this.#server = server;
  }

  /** Whether there are some that the engine does not have. */
  get wait(): boolean {
    return this.#count > 0;
  }

  /**
   * False where JavaScript has to write the line.
   *
   * @param onLines called where lines wait and nobody has heard so, with whether they are due
   */
  add(response: LoggedResponse, onLines: (areDue: boolean) => void): boolean {
    const { isHead, url, id, status, tookMs } = response;
    const micros = Math.round(tookMs * 1_000);
    const length = url.length + id.length;
    if (length > TEXT_BYTES || url.length > this.longestUrl || this.#isFull) return false;
    if (!(micros >= 0 && micros <= mostMicros)) return false;
    if (this.#count === MOST || this.#end + length > TEXT_BYTES) {
      this.#endTurn();
      if (this.#isFull) return false;
    }
    const start = this.#end;
    if (!this.#put(url, start)) return false;
    const urlEnd = start + url.length;
    // An id that is not printable is not safe, so the engine makes one.
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
    if (!this.#isTold) {
      this.#isTold = true;
      onLines(false);
    }
    // After everything that this turn still responds to, before anything else runs.
    if (this.#count === 1) process.nextTick(this.#endTurn);
    return true;
  }

  /** Gives the engine the lines of this turn. Returns whether lines are due now; a caller that takes them next need not be told. */
  handOver(): boolean {
    const count = this.#count;
    if (count === 0) return false;
    this.#count = 0;
    this.#end = 0;
    const news = this.#addon.writeOwnersLines(this.#server, this.#records, count, this.#texts);
    this.#isFull = (news & FULL) !== 0;
    return (news & DUE) !== 0;
  }

  /** Lines of the engine were taken: there may be room again, and the next line is to be reported. */
  onTaken(): void {
    this.#isFull = false;
    this.#isTold = false;
  }

  /** Puts printable text into the texts. False if it is not. */
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
