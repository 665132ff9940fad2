import type { OnDuplicate } from '@redline/defer';

/** What a process does with one key, one after the other, and whose data the job then has. */
export interface Step {
  /** Undefined: it is cancelled. */
  readonly onDuplicate: OnDuplicate | undefined;
  readonly data: number | undefined;
}

export const steps: readonly Step[] = [
  { onDuplicate: 'keep', data: 0 },
  { onDuplicate: 'replace', data: 1 },
  { onDuplicate: 'keep', data: 1 },
  { onDuplicate: 'extend', data: 3 },
  { onDuplicate: 'extend', data: 4 },
  { onDuplicate: undefined, data: undefined },
  { onDuplicate: 'keep', data: 6 },
  { onDuplicate: 'replace', data: 7 },
  { onDuplicate: undefined, data: undefined },
  { onDuplicate: 'extend', data: 9 },
  { onDuplicate: 'replace', data: 10 },
  { onDuplicate: 'keep', data: 10 },
];
