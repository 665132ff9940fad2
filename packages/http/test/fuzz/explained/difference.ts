import type { Case } from '../case.ts';
import type { Transcript } from '../contestant.ts';

export interface Difference {
  case: Case;
  node: Transcript;
  redline: Transcript;
}

/** Why two transcripts may differ, and which of them do for that reason. */
export interface Explanation {
  reason: string;
  covers: (difference: Difference) => boolean;
  /**
   * The case without what Node does otherwise, in one form or in several. What Node answers to one of them is what the engine
   * has to answer to the case, byte for byte: for a rule that cannot tell from the two transcripts what that is.
   */
  remedies?: (difference: Difference) => Case[];
}
