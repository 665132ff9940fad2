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
}
