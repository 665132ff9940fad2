import type { EngineLines, LineWriting, ServerLines, LineSource } from './engine-lines.ts';
import type { LineLog, NativeServer } from '../native/index.ts';
import type { RequestHead } from '../request/request-head.ts';

/** Key of a server's log: setting the form of lines does not create the server's response store. */
export const kServerLog: unique symbol = Symbol.for('redline.serverLog') as never;

/** The log of a server's stored responses; it exists before the server listens. */
export class ServerLog {
  #given: EngineLines | undefined;
  #native: NativeServer | undefined;
  #writing: LineWriting | undefined;
  #source: LogSource | undefined;
  #unfollow: (() => void) | undefined;
  /** Request header that contains the id of a line. */
  #idHeader: string | undefined;
  readonly #onLines = (areDue: boolean): void => this.onLines(areDue);

  /** The value given to `set`, in its public form. */
  get lines(): ServerLines | undefined {
    if (this.#given === undefined) return undefined;
    const { obstacle, writing } = this.#given;
    return { obstacle, line: writing === undefined ? 0 : 1 };
  }

  /** Sets how lines are written. */
  set(lines: EngineLines | undefined): void {
    this.#end();
    this.#source?.close();
    this.#given = lines;
    this.#begin();
  }

  /** Writes the line of a response sent by JavaScript. Returns false if JavaScript has to write it. */
  writeLine(
    { method = 'GET', url, headers }: RequestHead,
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

  begin(native: NativeServer): void {
    this.#native = native;
    this.#begin();
  }

  /** Called when the engine has lines. */
  onLines(areDue: boolean): void {
    this.#writing?.sink.linesWait(areDue);
  }

  /** Called when the server's last connection is gone. */
  onStopped(): void {
    this.#native = undefined;
    this.#end();
  }

  /** Called when the process ends. */
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
    this.#source = new LogSource(native.log);
    writing.sink.attach(this.#source);
    this.#write(native.log, writing);
    this.#unfollow = writing.follow(() => this.#write(native.log, writing));
  }

  #write(log: LineLog, writing: LineWriting): void {
    const template = writing.template();
    this.#idHeader = template.idHeader;
    log.write({ ...template, dueBytes: writing.sink.dueBytes });
  }

  /** The sink takes the last lines now, or as soon as it can. */
  #end(): void {
    if (this.#source !== undefined) this.#source.isOver = true;
    this.#unfollow?.();
    this.#writing?.sink.linesWait(true);
    this.#unfollow = undefined;
    this.#writing = undefined;
  }
}

/** The lines of a log while they belong to one sink. */
class LogSource implements LineSource {
  isOver = false;
  readonly #log: LineLog;
  #isClosed = false;

  constructor(log: LineLog) {
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

  /** Leaves the queued lines to another sink. */
  close(): void {
    this.#isClosed = true;
  }
}
