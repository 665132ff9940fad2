import { columnWidth, VERDICT_WIDTH } from '../../report/column-width.ts';
import { type Figures, p99Of } from './figures.ts';
import { fixed, range } from '../../report/format.ts';
import { plotBackground } from '../../report/plot.ts';
import { STACK, stackedTable } from '../../report/style.ts';

/** Returns the column layout of the ladder, wide and stacked. */
export function ladderStyle(figures: Figures): string {
  const { measured, rpsAxis, cpuAxis, rpsBand, cpuBand, baseMicros } = figures;
  const latency = (value: number): string => fixed(value, figures.latencyDecimals);
  const estimates = (texts: Figures['rps']): string => {
    const all = [...texts.values()];
    return columnWidth(
      all.map(({ value, pad }) => value + pad),
      ['interval', ...all.map(({ range: text }) => text)],
    );
  };
  const main = measured.map(({ variant }) =>
    fixed(variant.mainThreadMicrosPerRequest ?? 0, figures.cpuDecimals),
  );
  const requests = measured.map(
    (row) => `${row.rpsIsLowerBound ? '≥ ' : ''}${fixed(row.variant.rps)}`,
  );
  const p50 = measured.map(({ variant }) => latency(variant.latencyMs.p50));
  const p99 = measured.map((row) => range(p99Of(row), figures.latencyDecimals));
  return `#ladder .rps-plot{background:${plotBackground(rpsAxis, 1, rpsBand)}}#ladder .cpu-plot{background:${plotBackground(cpuAxis, baseMicros, cpuBand)}}
#ladder .w-name{width:12.4em}#ladder .w-rps{${estimates(figures.rps)}}#ladder .w-cpu{${estimates(figures.cpu)}}#ladder .w-abs{${columnWidth(requests, ['82 % busy'])}}#ladder .w-verdict{${VERDICT_WIDTH}}#ladder .w-main{${columnWidth(['main', ...main])}}#ladder .w-p50{${columnWidth(['p50', ...p50])}}#ladder .w-p99{${columnWidth(['p99'], p99)}}#ladder .w-rss{width:calc(2.6em + var(--pad))}
#ladder td:is(.rps-verdict,.cpu-verdict){padding-right:0}#ladder .p99 .v::before{width:15px}
${STACK}{${stackedTable('ladder')}
#ladder :is(.rps-plot,.rps-est,.rps-abs,.rps-verdict){grid-column:1/7}#ladder :is(.cpu-plot,.cpu-est,.cpu-verdict,.main){grid-column:7/-1}
#ladder thead tr>:nth-child(2){grid-column:1/7}#ladder thead tr>:nth-child(6){grid-column:7/-1}
#ladder tbody tr>.plot{grid-row:2}#ladder :is(.rps-est,.cpu-est,.rps-verdict,.cpu-verdict){grid-row:3}#ladder :is(.rps-abs,.main){grid-row:4}
#ladder .rps-est{grid-column:1/4}#ladder .rps-verdict{grid-column:4/7}#ladder .cpu-est{grid-column:7/10}#ladder .cpu-verdict{grid-column:10/-1}
#ladder .rps-est b::after{content:" ×"}#ladder .cpu-est b::after{content:" µs"}
#ladder :is(.rps-abs,.main,.p50,.p99,.rss){color:var(--ink2);font-size:var(--f0);white-space:normal}
#ladder :is(.p50,.p99,.rss){grid-row:5}#ladder .p50{grid-column:1/4}#ladder .p99{grid-column:4/7}#ladder .rss{grid-column:7/-1}
#ladder .p50::before{content:"p50 "}#ladder .p99::before{content:"p99 "}#ladder :is(.p50,.p99)::after{content:" ms"}#ladder .rss::before{content:"RSS "}#ladder .rss::after{content:" MiB"}}
@media screen and (max-width:720px){#ladder :is(.rps-est,.rps-verdict){grid-column:1/7}#ladder :is(.cpu-est,.cpu-verdict){grid-column:7/-1}#ladder :is(.rps-verdict,.cpu-verdict){grid-row:4}#ladder :is(.rps-abs,.main){grid-row:5}#ladder :is(.p50,.p99){grid-row:6}#ladder .p50{grid-column:1/5}#ladder .p99{grid-column:5/-1}#ladder .rss{grid-row:7;grid-column:1/-1}}
`;
}
