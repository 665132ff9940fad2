// The text of packages/eslint-plugin/README.md about `npm run test:lint-fix`.
import type { LintFixResult } from '../tests/lint-fix/result.ts';
import { table } from '../benchmarks/tables/format.ts';

export function lintFixText(results: Record<string, LintFixResult>): string {
  const all = Object.values(results);
  const sum = (of: (result: LintFixResult) => number): number =>
    all.reduce((total, each) => total + of(each), 0);
  const rows = Object.entries(results).map(([name, each]) => [
    name,
    thousands(each.lines),
    String(each.fixes),
    `${each.passedBefore} of ${each.testFiles}`,
    String(each.passedAfter),
  ]);
  const head = ['package', 'lines', 'lines rewritten', 'test files that passed', 'pass after'];
  return `${all.length} packages with ${thousands(sum(({ lines }) => lines))} lines, of which \`--fix\` rewrote ${sum(({ fixes }) => fixes)}: of ${sum(({ passedBefore }) => passedBefore)} test files that passed before, ${sum(({ passedAfter }) => passedAfter)} pass after.

${table(head, rows)}`;
}

function thousands(count: number): string {
  return count.toLocaleString('en').replaceAll(',', '\u202f');
}
