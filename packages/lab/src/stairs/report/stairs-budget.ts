import type { BudgetReport, BudgetRow } from '../result.ts';
import { fixed, range } from '../../report/format.ts';
import { markup, type Markup } from '../../report/markup.ts';
import type { Section } from '../../report/section.ts';
import { verdictWord } from '../../report/words.ts';

export const statusWords: Record<BudgetRow['status'], string> = {
  within: 'within',
  over: 'over',
  unresolved: 'unresolved',
  missing: 'never reached',
  new: 'no budget',
};

const marks = {
  within: 'same',
  over: 'worse',
  unresolved: 'unresolved',
  missing: 'worse',
  new: 'skip',
} as const;

/** Returns the section with the limit of each stage, and whether the stage keeps it. */
export function budgetSection({ file, unit, rows }: BudgetReport): Section {
  const head = unit === 'µs' ? 'µs' : 'floors';
  const explained =
    unit === 'µs'
      ? ''
      : ' One floor is the cost of HTTP and an empty response on this machine, so that figures can be compared across machines.';
  return {
    id: 'budget',
    heading: 'Budget',
    body: markup`<p class="lead">${file}. A stage is over when its whole interval lies above the limit, unresolved when the interval contains the limit.${explained}</p><table class="t"><thead><tr><th class="name">Stage</th><th class="n">Measured, ${head}</th><th class="n">95 % interval</th><th class="n">Allowed, ${head}</th><th>Verdict</th></tr></thead><tbody>${rows.map(row)}</tbody></table>`,
    css: '#budget .t{max-width:60em}#budget tbody tr{height:32px}@media screen and (max-width:480px){#budget :is(.t,tbody){display:block}#budget thead{display:none}#budget tbody tr{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));column-gap:var(--s2);height:auto;padding:6px 0}#budget :is(th,td){padding:0;text-align:left}#budget .name{grid-column:1/-1}#budget td[data-l]::before{content:attr(data-l) " ";color:var(--ink2)}}',
  };
}

function row({ name, measured, limit, status }: BudgetRow): Markup {
  return markup`<tr><th scope="row" class="name">${name}</th><td class="n" data-l="measured">${measured ? fixed(measured.value, 2) : '–'}</td><td class="n">${measured ? range(measured, 2) : ''}</td><td class="n" data-l="allowed">${limit === undefined ? '–' : fixed(limit, 2)}</td><td>${verdictWord(marks[status], statusWords[status])}</td></tr>`;
}
