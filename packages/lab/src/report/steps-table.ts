import type { BenchResult } from '../result.ts';
import { type Axis, linearAxis } from './axis.ts';
import { type ColumnText, estimateColumn } from './format.ts';
import { markup, type Markup } from './markup.ts';
import { axisHeader, bar, plotBackground, plotCell, share, whisker } from './plot.ts';
import { type StepRow, stepsOf } from './rows.ts';
import type { Section } from './section.ts';
import { STACK, stackedTable } from './style.ts';
import { blocksHint, verdictWord } from './words.ts';

/** Ladders: what each rung adds to the one below it. Nothing when no rung was measured over another. */
export function stepsSection(result: BenchResult): Section | undefined {
  const steps = stepsOf(result);
  if (steps.length === 0) return undefined;
  const axis = linearAxis(
    steps.flatMap(({ fromMicros, to }) => [
      fromMicros,
      to.value,
      ...(to.reading === 'unresolved' ? [] : [to.high]),
    ]),
  );
  return {
    id: 'steps',
    heading: 'Steps',
    body: markup`<p class="lead">Each rung against the measured one below it. A bar runs from the CPU of the rung below to that of this one; its whisker is the interval of this step alone. µs saved and the ratios come from the same paired slices as the verdict.</p>${table(steps, axis)}`,
    css: stepsStyle(axis),
  };
}

function table(steps: StepRow[], axis: Axis): Markup {
  const saved = estimateColumn(
    steps.map((step) => step.saved),
    1,
  );
  const cpu = estimateColumn(
    steps.map((step) => step.cpu),
    2,
  );
  const rps = estimateColumn(
    steps.map((step) => step.rps),
    2,
  );
  const rows = steps.map((step, index) =>
    row(step, axis, steps[index + 1], [saved[index], cpu[index], rps[index]] as ColumnText[]),
  );
  return markup`<table class="t" role="table"><colgroup><col class="w-name"><col><col class="w-saved"><col class="w-est"><col class="w-verdict"><col class="w-est"><col class="w-verdict"></colgroup>
<thead role="rowgroup"><tr role="row"><th role="columnheader" class="name">Rung</th><th role="columnheader" class="plot step-plot">CPU µs per request, from rung to rung${axisHeader(axis)}</th><th role="columnheader" class="n">µs saved<small>95 % interval</small></th><th role="columnheader" class="n">CPU ×<small>95 % interval</small></th><th role="columnheader">Verdict</th><th role="columnheader" class="n">requests ×<small>95 % interval</small></th><th role="columnheader">Verdict</th></tr></thead>
<tbody role="rowgroup" data-rove>${rows}</tbody></table>`;
}

function row(step: StepRow, axis: Axis, next: StepRow | undefined, texts: ColumnText[]): Markup {
  const [saved, cpu, rps] = texts as [ColumnText, ColumnText, ColumnText];
  const end = share(axis.at(step.to.value));
  // Ends in the middle of the next row, wherever the heights put it: full height of this one, moved by half a row.
  const joint = next && markup`<line class="joint" x1="${end}" x2="${end}" y2="100%"/>`;
  const mark = plotCell(
    `${step.name} over ${step.over}: ${saved.value.trim()} µs CPU per request saved, ${step.saved.reading}`,
    `95 % interval ${saved.range} µs; CPU ${cpu.value.trim()} × ${cpu.range}; requests ${rps.value.trim()} × ${rps.range}`,
    markup`${joint}${bar(axis, step.fromMicros, step.to)}${whisker(axis, step.to)}`,
  );
  const hint = (estimate: StepRow['cpu']): Markup | undefined => {
    const text = blocksHint(estimate);
    return text === undefined ? undefined : markup`<small>${text}</small>`;
  };
  return markup`<tr role="row"><th role="rowheader" scope="row" class="name">${step.name}<small>over ${step.over}</small></th><td role="cell" class="plot step-plot">${mark}</td><td role="cell" class="n saved"><b>${saved.value}</b><small>${saved.range}</small></td><td role="cell" class="n cpu-est">${cpu.value}<small>${cpu.range}</small></td><td role="cell" class="cpu-verdict">${verdictWord(step.saved.reading)}${hint(step.cpu)}</td><td role="cell" class="n rps-est">${rps.value}<small>${rps.range}</small></td><td role="cell" class="rps-verdict">${verdictWord(step.rps.reading)}${hint(step.rps)}</td></tr>
`;
}

function stepsStyle(axis: Axis): string {
  return `.step-plot{background:${plotBackground(axis)}}.t thead .step-plot{background:none}
.m>.joint{stroke:var(--bar);stroke-width:1;marker:none}
#steps .w-name{width:220px}#steps .w-saved{width:104px}#steps .w-est{width:104px}#steps .w-verdict{width:112px}
@media print{#steps .w-name{width:170px}}
${STACK}{${stackedTable('steps')}#steps .joint{display:none}
#steps tr>.plot{grid-column:1/-1;grid-row:2}#steps thead tr>.plot{grid-row:1}
#steps .saved{grid-area:3/1/auto/7}#steps .cpu-verdict{grid-area:3/7/auto/-1}#steps .cpu-est{grid-area:4/1/auto/-1;color:var(--ink2)}#steps .rps-est{grid-area:5/1/auto/7;color:var(--ink2)}#steps .rps-verdict{grid-area:5/7/auto/-1}
#steps .saved b::after{content:" µs saved"}#steps .cpu-est::before{content:"CPU × "}#steps .rps-est::before{content:"requests × "}}
`;
}
