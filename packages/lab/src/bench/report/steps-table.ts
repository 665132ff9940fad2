import { type Axis, clamp, linearAxis } from '../../report/axis.ts';
import { columnWidth, VERDICT_WIDTH } from '../../report/column-width.ts';
import { axisValues, type Figures } from './figures.ts';
import { markup, type Markup } from '../../report/markup.ts';
import { axisHeader, bar, plotBackground, plotCell, share, whisker } from '../../report/plot.ts';
import { spokenWord } from '../../report/reading.ts';
import type { StepRow } from './rows.ts';
import type { Section } from '../../report/section.ts';
import { STACK, stackedTable } from '../../report/style.ts';
import { padded, restartsHint, verdictWord } from '../../report/words.ts';

/** Renders the gain of each rung of a ladder over the one below it. Undefined if no rung was measured over another. */
export function stepsSection(figures: Figures): Section | undefined {
  const { steps } = figures;
  if (steps.length === 0) return undefined;
  const axis = linearAxis([
    ...steps.map((step) => step.fromMicros),
    ...axisValues(steps.map((step) => step.to)),
  ]);
  const against = steps.some(({ apart }) => apart)
    ? 'Each rung against the variant named below it. A bar runs from the CPU of that variant to that of this rung;'
    : 'Each rung against the measured one below it. A bar runs from the CPU of the rung below to that of this one;';
  return {
    id: 'steps',
    heading: 'Steps',
    body: markup`<p class="lead">${against} its whisker is the interval of this step alone. Shaded: what counts as no difference. All ratios are better above 1, all intervals 95 %.</p>${table(figures, axis)}`,
    css: stepsStyle(axis, figures),
  };
}

function table(figures: Figures, axis: Axis): Markup {
  const rows = figures.steps.map((step, index) =>
    row(step, figures, axis, [figures.steps[index - 1], figures.steps[index + 1]]),
  );
  return markup`<table class="t" role="table"><colgroup><col class="w-name"><col><col class="w-saved"><col class="w-cpu"><col class="w-verdict"><col class="w-rps"><col class="w-verdict"></colgroup>
<thead role="rowgroup"><tr role="row"><th role="columnheader" class="name">Rung</th><th role="columnheader" class="plot">CPU µs per request, from rung to rung${axisHeader(axis)}</th><th role="columnheader" class="n">µs saved<small>interval</small></th><th role="columnheader" class="n">CPU, ×<small>interval</small></th><th role="columnheader">Verdict</th><th role="columnheader" class="n">rps, ×<small>interval</small></th><th role="columnheader">Verdict</th></tr></thead>
<tbody role="rowgroup" data-rove>${rows}</tbody></table>`;
}

function row(
  step: StepRow,
  figures: Figures,
  axis: Axis,
  [previous, next]: readonly (StepRow | undefined)[],
): Markup {
  const texts = figures.stepTexts.get(step);
  if (!texts) return markup``;
  const { saved, cpu, rps } = texts;
  const from = step.fromMicros;
  const end = share(axis.at(step.to.value));
  const edges = figures.cpuEdges;
  // On a noisy run the band is wider than the axis.
  const bandStart = clamp(axis.at(from / edges.high));
  const bandEnd = clamp(axis.at(from / edges.low));
  const shade = markup`<rect class="band" x="${share(bandStart)}" width="${share(bandEnd - bandStart)}"/>`;
  // The line to the bar of the next row is as long as this row is high, moved down by half a row of one line. The band of the next
  // row covers it, so its upper half is drawn again there.
  const joint = [
    ...(previous === undefined || step.beside || step.over !== previous.name
      ? []
      : [line(share(axis.at(from)), '-22', '0')]),
    ...(next === undefined || next.beside || next.over !== step.name
      ? []
      : [line(end, '0', '100%')]),
  ];
  const mark = plotCell(
    `${step.name} ${step.beside ? 'beside' : 'over'} ${step.over}: ${saved.value} µs CPU per request saved, ${spokenWord(step.saved.reading)}`,
    `95 % interval ${saved.range} µs; CPU ${cpu.value} × ${cpu.range}; requests ${rps.value} × ${rps.range}`,
    markup`${shade}${joint}${bar(axis, step.fromMicros, step.to)}${whisker(axis, step.to)}`,
  );
  const hint = (text: string | undefined): Markup | undefined =>
    text ? markup`<small>${text}</small>` : undefined;
  return markup`<tr role="row" class="${step.beside ? 'beside' : 'rung'}"><th role="rowheader" scope="row" class="name">${step.name}<small>${step.beside ? 'beside' : 'over'} ${step.over}</small></th><td role="cell" class="plot step-plot">${mark}</td><td role="cell" class="n saved"><b>${padded(saved)}</b><small>${saved.range}</small></td><td role="cell" class="n cpu-est">${padded(cpu)}<small>${cpu.range}</small></td><td role="cell" class="cpu-verdict">${verdictWord(step.saved.reading)}${hint(restartsHint(step.cpu))}</td><td role="cell" class="n rps-est">${padded(rps)}<small>${rps.range}</small></td><td role="cell" class="rps-verdict">${verdictWord(step.rps.reading)}${hint(restartsHint(step.rps))}</td></tr>
`;
}

function line(x: string, from: string, to: string): Markup {
  return markup`<line class="joint" x1="${x}" x2="${x}" y1="${from}" y2="${to}"/>`;
}

function stepsStyle(axis: Axis, figures: Figures): string {
  const texts = [...figures.stepTexts.values()];
  const column = (part: 'saved' | 'cpu' | 'rps', heading: string): string =>
    columnWidth(
      texts.map((text) => text[part].value + text[part].pad),
      [heading, 'interval', ...texts.map((text) => text[part].range)],
    );
  return `#steps .m>.band{transform:none;y:0;height:100%;fill:var(--band)}#steps .step-plot{background:${plotBackground(axis)}}
.m>.joint{stroke:var(--bar);stroke-width:1;marker:none}
#steps .w-name{width:17em}#steps .w-saved{${column('saved', 'µs saved')}}#steps .w-cpu{${column('cpu', 'CPU, ×')}}#steps .w-rps{${column('rps', 'rps, ×')}}#steps .w-verdict{${VERDICT_WIDTH}}#steps td:is(.cpu-verdict,.rps-verdict){padding-right:0}
${STACK}{${stackedTable('steps')}#steps .joint{display:none}
#steps .plot{grid-column:1/-1}#steps tbody .plot{grid-row:2}
#steps .saved{grid-area:3/1/auto/7}#steps .cpu-verdict{grid-area:3/7/auto/-1}#steps .cpu-est{grid-area:4/1/auto/-1;color:var(--ink2)}#steps .rps-est{grid-area:5/1/auto/7;color:var(--ink2)}#steps .rps-verdict{grid-area:5/7/auto/-1}
#steps .saved b::after{content:" µs saved"}#steps .cpu-est::before{content:"CPU "}#steps .rps-est::before{content:"rps "}#steps :is(.cpu-est,.rps-est) small::before{content:"× "}}
`;
}
