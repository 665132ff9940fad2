import type { LinePlan } from '../../native.cjs';

/** The pieces and the time format of a line; the sink adds `dueBytes`. */
export type LineTemplate = Omit<LinePlan, 'dueBytes'>;

/** Log lines written by the engine. */
export interface LineWriting {
  readonly sink: LineSink;
  /** Returns the current form of lines. */
  template(): LineTemplate;
  /** Calls back on every change of the form; returns a function that stops it. */
  follow(onChange: () => void): () => void;
}

/** The log of responses sent by the engine without JavaScript: see `engineLines` of `@redline/http/pino`. */
export interface EngineLines {
  /** Reason, as a clause, why the engine cannot write the lines; undefined if it can, or if there are no lines. */
  readonly obstacle: string | undefined;
  readonly writing: LineWriting | undefined;
}

/** The log of the server's stored responses. */
export interface ServerLines {
  /** Reason, as a clause, why the engine cannot write the line of a stored response; undefined if it can, or if no line is due. */
  readonly obstacle: string | undefined;
  /** Value for `line` of a stored response: 0 if no line is due, or none can be written. */
  readonly line: number;
}

/** Lines queued in the engine. */
export interface LineSource {
  /** True if lines may be queued. Costs one memory read. */
  readonly waits: boolean;
  /** The server has stopped: once `take` returns 0, no more lines follow. */
  readonly isOver: boolean;
  /** Moves the oldest whole lines to `into`, starting at `offset`; returns the number of bytes. */
  take(into: Buffer, offset: number): number;
  /** Stops the engine from sending responses that have a line: the next lines taken are the last ones. */
  hold(): void;
}

/** Destination of the engine's lines. It pulls them, and so controls their order and handles slow readers. */
export interface LineSink {
  /** Number of queued bytes from which lines are reported as due. */
  readonly dueBytes: number;
  /** Called once per listening server. */
  attach(source: LineSource): void;
  /** Signals queued lines. Due ones must be taken now, others soon, and before any later line. */
  linesWait(areDue: boolean): void;
  /** Takes and writes the last lines before it returns: the process ends. */
  end(): void;
}
