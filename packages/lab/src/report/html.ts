import type { BenchResult } from '../result.ts';
import { header } from './header.ts';
import { ladderSection } from './ladder-table.ts';
import { methodSection } from './method.ts';
import { renderPage } from './page.ts';
import { stepsSection } from './steps-table.ts';

/** The report of `redline ladder` and `redline bench` as one self-contained file. Raw slices stay in the JSON. */
export function renderHtml(result: BenchResult): string {
  const steps = result.command === 'ladder' ? stepsSection(result) : undefined;
  return renderPage({
    title: result.title,
    header: header(result),
    sections: [ladderSection(result), ...(steps ? [steps] : []), methodSection(result)],
  });
}
