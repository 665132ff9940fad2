import type { Interval } from '../figures.ts';
import type { RunFacts } from '../report/run-facts.ts';

/** The result of `redline advise`: its JSON, and the only input of its reports. */
export interface AdviseResult extends RunFacts {
  schema: 1;
  command: 'advise';
  title: string;
  /** Version of Node the gains are for, e.g. `24.21.0`. */
  node: string;
  profile: { from: string; samples: number; seconds: number };
  /** Functions with a smaller share of the samples are not examined; 0 to 1. */
  leastShare: number;
  /** Most time first. */
  advice: Advice[];
  /** Rules that were hit in hot functions but gain nothing on this Node. */
  leftOut: { rule: string; hits: number; why: string }[];
  /** Hot scripts that could not be read. */
  unread: { url: string; why: string }[];
}

export interface Advice {
  rule: string;
  /** The rule's description, one sentence. */
  text: string;
  /** Describes the change of the result if the advice is followed. Absent if the result stays the same. */
  changesResult?: string;
  /** Place in the source, through source maps. */
  file: string;
  line: number;
  column: number;
  function: string;
  /** Share of all samples: the function's own, those of V8's builtins it calls, and of functions written inside it. */
  share: number;
  /** Time before divided by time after, of that piece of code alone. */
  gain: Interval & { node: string };
  code: string;
  rewrite?: {
    text: string;
    isSafe: boolean;
    /** Offsets from the start of the file; `end` is exclusive. Absent for compiled code. */
    at?: { start: number; end: number };
  };
}
