/** What was found of one package. */
export interface LintFixResult {
  lines: number;
  /** Lines that `--fix` rewrote. */
  fixes: number;
  testFiles: number;
  passedBefore: number;
  passedAfter: number;
}
