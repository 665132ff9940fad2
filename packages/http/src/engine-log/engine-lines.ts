import type { LinePlan } from '../../native.cjs';
import type { LineSink } from './line-sink.ts';

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
