import type { LinePlan } from '../../native.cjs';
import type { LineSink } from './line-sink.ts';

/** The pieces of a line, and how it has its time; what the sink wants comes from the sink. */
export type LineTemplate = Omit<LinePlan, 'dueBytes'>;

/** How the engine writes lines. */
export interface LineWriting {
  readonly sink: LineSink;
  /** What lines look like now. */
  template(): LineTemplate;
  /** Calls back when they look otherwise from then on; returns what ends that. */
  follow(onChange: () => void): () => void;
}

/** The log of the answers that the engine gives by itself: see `engineLines` of `@redline/http/pino`. */
export interface AnswerLines {
  /** Why the engine cannot write its lines, as a clause; undefined if it can, or if there are none to write. */
  readonly obstacle: string | undefined;
  readonly writing: LineWriting | undefined;
}

/** The log of a server's own answers. */
export interface ServerLines {
  /** Why the engine cannot write the line of an answer, as a clause; undefined if it can, or if none is due. */
  readonly obstacle: string | undefined;
  /** For `line` of an answer: 0 if no line is due, or none can be written. */
  readonly line: number;
}
