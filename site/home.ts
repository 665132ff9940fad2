// The first page: home.md with its figures, which are read from benchmarks/results.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BenchResult, type Interval, renderHtmlChart } from '@redline/lab';
import { markup } from '@redline/lab/drawing';
import { digits, type Figure, type FigureName, figuresOf } from '../benchmarks/tables/headline.ts';
import { runsOf } from '../benchmarks/tables/runs-by-model.ts';
import { rewriteLinks } from './links.ts';
import { root } from './pages.ts';

/** `<!-- ladder -->` and `<!-- figure NAME -->` are where they go. A figure that was not measured leaves nothing. */
export function home(): string {
  const ladder = readResult('cached-api')!;
  const figures = figuresOf({
    ladder,
    frameworks: runsOf('frameworks'),
    defer: readResult('defer'),
    spawnEcho: readResult('spawn-echo'),
    spawnResident: readResult('spawn-resident'),
    legacy: readResult('legacy'),
  });
  const text = readFileSync(join(import.meta.dirname, 'home.md'), 'utf8')
    .replace(
      '<!-- ladder -->',
      () => `<div class="ladder" v-pre>\n${renderHtmlChart(ladder)}</div>`,
    )
    .replaceAll(/<!-- figure (\w+): (.+) -->/g, (_, name: FigureName, words: string) => {
      const figure = figures[name];
      if (figure === undefined) return '';
      const { unit, againstPosixSpawn: spawned, command } = figure;
      const [gain, range] = gainOf(figure);
      const beside =
        spawned && `; ${digits(spawned.value)} × ${rangeOf(spawned)} against posix_spawn`;
      return markup`<p class="figure" v-pre><b>${gain} ×</b> <span>${range} ${unit}</span><small>${words}${beside}</small><code>${command}</code></p>`
        .text;
    });
  return rewriteLinks(text, 'site/home.md');
}

/** Over processor models, where there are several. */
function gainOf({ ratio, models = [] }: Figure): [gain: string, range: string] {
  const ends = [...new Set([models[0], models.at(-1)])].filter((each) => each !== undefined);
  if (ends.length < 2) return [digits(ratio.value), rangeOf(ratio)];
  return [
    ends.map((each) => digits(each.ratio.value)).join(' to '),
    ends.map((each) => `${rangeOf(each.ratio)} on ${each.model}`).join(', '),
  ];
}

function rangeOf({ low, high }: Interval): string {
  return `[${digits(low)}, ${digits(high)}]`;
}

function readResult(name: string): BenchResult | undefined {
  const file = join(root, 'benchmarks/results', `${name}.json`);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}
