// The first screen of the root README: one sentence and one small chart, for one framework whose gain has a narrow interval
// on every processor model.
import type { BenchResult } from '@redline/lab';
import { coloursOf, fitText, linearAxis, markup, raw, SANS } from '@redline/lab/drawing';
import { headlineNode } from './frameworks.ts';
import { byModel, type OnModel } from './runs-by-model.ts';
import { isNarrow, measured, narrowReach } from './format.ts';

/** In order of preference: the best known first. */
const preferred: Readonly<Record<string, string>> = {
  express5: 'Express 5',
  fastify: 'Fastify',
  'nest-express': 'Nest on Express',
  'nest-fastify': 'Nest on Fastify',
  koa: 'Koa',
  hono: 'Hono',
  polka: 'Polka',
  h3: 'h3',
  node: 'no framework',
};

/** One framework on the engine against itself on `node:http`. */
export interface FirstFigure {
  readonly title: string;
  /** In ascending order of the ratio. */
  readonly models: readonly OnModel[];
}

/** @throws {Error} if no framework was measured narrowly enough on two models */
export function firstFigure(runs: readonly BenchResult[]): FirstFigure {
  for (const [framework, title] of Object.entries(preferred)) {
    const name = `${framework}-redline/${headlineNode}`;
    const models = byModel(runs, (run) => measured(run, name)?.rpsRatio);
    const areNarrow = models.every(({ ratio }) => isNarrow(ratio));
    if (models.length > 1 && models.length === runs.length && areNarrow) return { title, models };
  }
  throw new Error(
    `No framework has an interval within ± ${narrowReach * 100} % on every processor model: measure longer (npm run bench -- frameworks --restarts 6).`,
  );
}

/** Returns the Markdown below the title. */
export function firstText({ title, models }: FirstFigure): string {
  const [low, high] = [models[0]!, models.at(-1)!].map(({ ratio }) => ratio.value.toFixed(1));
  const gain = low === high ? low! : `${low} to ${high}`;
  const alt = `Requests per second of ${title} on node:http and with Redline: ${gain} times as many`;
  const on = models.map(({ model }) => model).join(' and ');
  return `**A Node.js server with ${gain} × the requests per second by one flag, and the proof on your own app first.**
(A JSON route of ${title}, measured on ${on}; [other frameworks](#four-capabilities).)

<picture><source media="(max-width: 600px)" srcset="docs/charts/first-narrow.svg"><img src="docs/charts/first.svg" alt="${alt}"></picture>`;
}

const layouts = {
  wide: { width: 720, nameWidth: 160, textWidth: 130 },
  narrow: { width: 390, nameWidth: 140, textWidth: 116 },
} as const;
const edge = 16;
const rowHeight = 26;

/** Returns the chart as SVG, for a wide screen or for a phone. */
export function firstChart(
  { title, models }: FirstFigure,
  runs: readonly BenchResult[],
  size: keyof typeof layouts,
): string {
  const { width, nameWidth, textWidth } = layouts[size];
  const axis = linearAxis([0, ...models.map(({ ratio }) => ratio.high)]);
  const plotX = edge + nameWidth;
  const plotWidth = width - plotX - textWidth - edge;
  const x = (value: number): number => Number((plotX + axis.at(value) * plotWidth).toFixed(1));
  const head = fitText(`${title}, requests per second`, (width - 2 * edge) / 15, 2, true);
  const top = 22 + head.length * 19;
  const rows = [
    { name: 'node:http', ratio: undefined },
    ...models.map(({ model, ratio }) => ({ name: `Redline, ${model}`, ratio })).toReversed(),
  ];
  const foot = fitText(footOf(runs), (width - 2 * edge) / 11, 4);
  const bottom = top + rows.length * rowHeight;
  const height = bottom + 14 + foot.length * 15;
  const drawn = rows.map(({ name, ratio }, index) => {
    const y = top + index * rowHeight + rowHeight / 2;
    const value = ratio?.value ?? 1;
    const whisker =
      ratio &&
      markup`<path class="w" d="M${x(ratio.low)} ${y}H${x(ratio.high)}M${x(ratio.low)} ${y - 4}V${y + 4}M${x(ratio.high)} ${y - 4}V${y + 4}"/>`;
    const text =
      ratio === undefined
        ? '1'
        : `${value.toFixed(1)} × [${ratio.low.toFixed(1)}, ${ratio.high.toFixed(1)}]`;
    return markup`<text class="r" x="${edge}" y="${y + 4}">${name}</text><rect class="${ratio === undefined ? 'base' : 'better'}" x="${plotX}" y="${y - 8}" width="${Number((x(value) - plotX).toFixed(1))}" height="16" rx="2"/>${whisker}<text class="v" x="${width - edge}" y="${y + 4}">${text}</text>`;
  });
  const spoken = models
    .map(({ model, ratio }) => `${ratio.value.toFixed(1)} times as many on ${model}`)
    .join(', ');
  return markup`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="t d"><title id="t">${title} on node:http and with Redline</title><desc id="d">Requests per second: ${spoken}.</desc>
<style>${raw(style)}</style>
<rect class="bg" width="${width}" height="${height}" rx="6"/>
${head.map((line, index) => markup`<text class="h" x="${edge}" y="${28 + index * 19}">${line}</text>`)}
${drawn}
${foot.map((line, index) => markup`<text class="s" x="${edge}" y="${bottom + 16 + index * 15}">${line}</text>`)}
</svg>
`.text;
}

function footOf(runs: readonly BenchResult[]): string {
  const { load } = runs[0]!;
  const when = runs.map(({ startedAt }) => startedAt.slice(0, 10)).toSorted();
  return `One JSON route, ten request headers, ${load.connections} connections, Node ${headlineNode.slice('node'.length)}; 95 % intervals in brackets. ${[...new Set(when)].join(' and ')}.`;
}

const style = `svg{${coloursOf('light')}}@media(prefers-color-scheme:dark){svg{${coloursOf('dark')}}}text{font:13px ${SANS};fill:var(--ink);font-variant-numeric:tabular-nums}.h{font-size:15px;font-weight:600}.s{font-size:11px;fill:var(--ink2)}.v{text-anchor:end}.bg{fill:var(--bg)}.base{fill:var(--bar-base)}.better{fill:var(--better-fill)}.w{fill:none;stroke:var(--mark);stroke-width:1.5}`;
