import type { tables } from '../../native.cjs';

/** Lists indexed by the numbers in records. */
export interface Tables {
  readonly methods: readonly string[];
  /** In their usual spelling; number 0 is unused. */
  readonly names: readonly string[];
  readonly lowerNames: readonly string[];
  readonly codes: readonly string[];
  readonly reasons: readonly string[];
}

export function readTables({ methods, names, codes, reasons }: ReturnType<typeof tables>): Tables {
  return {
    methods,
    codes,
    reasons,
    names: ['', ...names],
    lowerNames: ['', ...names.map((name) => name.toLowerCase())],
  };
}
