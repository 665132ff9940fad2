import type { AnswerLines, LineWriting, ServerLines } from './answer-lines.ts';
import type { LineSource } from './line-sink.ts';
import type { AnswerLog, NativeServer } from '../native/index.ts';
import type { AnswerRequest } from './answer.ts';

/** A server has its log under this: whoever says how lines look need not open its answers. */
export const kAnswerLog: unique symbol = Symbol.for('redline.answerLog') as never;

/** The log of a server's own answers, whether or not it listens yet. */
export class ServerLog {
  #given: AnswerLines | undefined;
  #native: NativeServer | undefined;
  #writing: LineWriting | undefined;
  #tap: Tap | undefined;
  #unfollow: (() => void) | undefined;
  /** The request header that has the id of a line. */
  #idHeader: string | undefined;
  readonly #onLines = (areDue: boolean): void => this.onLines(areDue);

  /** What was given to `set`, as the application sees it. */
  get lines(): ServerLines | undefined {
    if (this.#given === undefined) return undefined;
    const { obstacle, writing } = this.#given;
    return { obstacle, line: writing === undefined ? 0 : 1 };
  }

  /** Says how lines are written from here on. */
  set(lines: AnswerLines | undefined): void {
    this.#end();
    this.#tap?.close();
    this.#given = lines;
    this.#begin();
  }

  /** Writes the line of a response that JavaScript has given. False where JavaScript has to. */
  writeLine(
    { method = 'GET', url, headers }: AnswerRequest,
    status: number,
    tookMs: number,
  ): boolean {
    const native = this.#native;
    if (native === undefined || this.#writing === undefined || url === undefined) return false;
    const isHead = method === 'HEAD';
    if (!isHead && method !== 'GET') return false;
    const given = this.#idHeader === undefined ? undefined : headers[this.#idHeader];
    const id = typeof given === 'string' ? given : '';
    return native.log.writeOf({ isHead, url, id, status, tookMs }, this.#onLines);
  }

  /** The server listens. */
  begin(native: NativeServer): void {
    this.#native = native;
    this.#begin();
  }

  /** The engine has lines. */
  onLines(areDue: boolean): void {
    this.#writing?.sink.linesWait(areDue);
  }

  /** The server's last connection is gone. */
  onStopped(): void {
    this.#native = undefined;
    this.#end();
  }

  /** The process ends. */
  onExit(): void {
    this.#writing?.sink.end();
  }

  #begin(): void {
    const native = this.#native;
    const writing = this.#given?.writing;
    if (native === undefined) return;
    if (writing === undefined) {
      native.log.write(undefined);
      return;
    }
    this.#writing = writing;
    this.#tap = new Tap(native.log);
    writing.sink.attach(this.#tap);
    this.#write(native.log, writing);
    this.#unfollow = writing.follow(() => this.#write(native.log, writing));
  }

  #write(log: AnswerLog, writing: LineWriting): void {
    const template = writing.template();
    this.#idHeader = template.idHeader;
    log.write({ ...template, dueBytes: writing.sink.dueBytes });
  }

  /** The sink has its last lines, or takes them when it can. */
  #end(): void {
    if (this.#tap !== undefined) this.#tap.isOver = true;
    this.#unfollow?.();
    this.#writing?.sink.linesWait(true);
    this.#unfollow = undefined;
    this.#writing = undefined;
  }
}

/** The lines of a log, as long as they are those of one sink. */
class Tap implements LineSource {
  isOver = false;
  readonly #log: AnswerLog;
  #isClosed = false;

  constructor(log: AnswerLog) {
    this.#log = log;
  }

  get waits(): boolean {
    return !this.#isClosed && this.#log.waits;
  }

  take(into: Buffer, offset: number): number {
    return this.#isClosed ? 0 : this.#log.take(into, offset);
  }

  hold(): void {
    this.#log.hold();
  }

  /** What still waits is another sink's. */
  close(): void {
    this.#isClosed = true;
  }
}
