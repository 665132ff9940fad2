import type { BenchResult } from '../result.ts';
import { figuresOf } from './figures.ts';
import { header } from './header.ts';
import { ladderSection } from './ladder-table.ts';
import { methodSection } from './method.ts';
import { renderPage } from '../../report/page.ts';
import { stepsSection } from './steps-table.ts';

/** Renders the report of `redline ladder` and `redline bench` as one self-contained file. Raw slices stay in the JSON. */
export function renderHtml(result: BenchResult): string {
  const figures = figuresOf(result);
  const steps = stepsSection(figures);
  return renderPage({
    title: result.title,
    header: header(result, figures),
    sections: [ladderSection(result, figures), ...(steps ? [steps] : []), methodSection(result)],
  });
}
