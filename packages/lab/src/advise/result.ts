import type { Interval } from '../figures.ts';
import type { RunFacts } from '../report/run-facts.ts';

/** What `redline advise` leaves behind: its JSON, and the only thing its reports are drawn from. */
export interface AdviseResult extends RunFacts {
  schema: 1;
  command: 'advise';
  title: string;
  /** Version of Node the gains are for, e.g. `24.21.0`. */
  node: string;
  profile: { from: string; samples: number; seconds: number };
  /** Functions with less of the samples are not looked at, as a fraction. */
  leastShare: number;
  /** Most time first. */
  advice: Advice[];
  /** Rules that were hit in hot functions but gain nothing on this Node. */
  leftOut: { rule: string; hits: number; why: string }[];
  /** Hot scripts that could not be looked at. */
  unread: { url: string; why: string }[];
}

export interface Advice {
  rule: string;
  /** The rule's one sentence. */
  text: string;
  /** How the result changes if the advice is followed. Absent when it does not. */
  changesResult?: string;
  /** In the source, through source maps. */
  file: string;
  line: number;
  column: number;
  function: string;
  /** Of all samples: the function's own, of what it calls of V8, and of functions written inside it. */
  share: number;
  /** Time before divided by time after, of that piece of code alone. */
  gain: Interval & { node: string };
  code: string;
  rewrite?: {
    text: string;
    isSafe: boolean;
    /** From the first character of the file, the end not included. Absent for code that was compiled. */
    at?: { start: number; end: number };
  };
}
