import type { BenchResult, Interval, MeasuredVariant } from '@redline/lab';
import { measured, measuredOn, noise, ratioText, rawData, shareOf, table } from './format.ts';
import { byModel, fileOf, floorText, floorWords, modelOf, rangeText } from './runs-by-model.ts';

/** The Node version of the headlines. */
export const headlineNode = 'node26';

/** The first tables of packages/http/README.md, and how they were measured. */
export function frameworksTables(runs: readonly BenchResult[]): string {
  return [
    `**Requests per second on the engine**, the same application on \`node:http\` = 1, with 95 % intervals: Express 5 ${rangeOf(runs, 'express5')}, Fastify ${rangeOf(runs, 'fastify')}.`,
    overModels(runs, ({ rpsRatio }) => rpsRatio),
    '**CPU per request on the engine**, the same application on `node:http` = 1:',
    overModels(runs, ({ cpuRatio }) => shareOf(cpuRatio)!),
    ...runs.flatMap((run) => floorTexts(run)),
    floorWords,
    ...runs.map(nodesOf),
    'The handler itself does not get faster: the more it does, the less there is to gain.',
  ].join('\n\n');
}

/** The table of the root README. */
export function frameworksSummary(runs: readonly BenchResult[]): string {
  return overModels(runs, ({ rpsRatio }) => rpsRatio);
}

/** Returns `1.79 × on A to 3.42 × on B` for one framework. */
export function rangeOf(runs: readonly BenchResult[], framework: string): string {
  const name = `${framework}-redline/${headlineNode}`;
  return rangeText(byModel(runs, (run) => measured(run, name)?.rpsRatio));
}

/** Lists frameworks down, models across. */
function overModels(
  runs: readonly BenchResult[],
  ratioOf: (variant: MeasuredVariant) => Interval,
): string {
  const heads = runs.map((run) => `${modelOf(run)}, Node ${versionOf(run, headlineNode)}`);
  const rows = frameworksOf(runs[0]!).map(({ name, title }) => [
    title,
    ...runs.map((run) => {
      const variant = measured(run, `${name}-redline/${headlineNode}`);
      return ratioText(variant && ratioOf(variant));
    }),
  ]);
  return table(['', ...heads], rows);
}

/** CPU of both servers relative to the machine's floor. */
function floorTexts(run: BenchResult): string[] {
  const floors = frameworksOf(run).flatMap(
    ({ name }) => measured(run, `${name}-floor/${headlineNode}`) ?? [],
  );
  if (floors.length === 0) return [];
  const micros = floors.map(({ cpuMicrosPerRequest }) => cpuMicrosPerRequest).toSorted();
  const rows = frameworksOf(run).map(({ name, title }) => {
    const engine = measured(run, `${name}-redline/${headlineNode}`);
    return [
      title,
      floorText(measured(run, `${name}/${headlineNode}`)),
      floorText(engine),
      engine === undefined ? '–' : `${engine.cpuMicrosPerRequest.toFixed(1)} µs`,
    ];
  });
  return [
    `**CPU per request, the floor = 1**, on ${modelOf(run)} with Node ${versionOf(run, headlineNode)}, whose floor is ${micros[0]!.toFixed(1)} to ${micros.at(-1)!.toFixed(1)} µs:`,
    table(['', 'on `node:http`', 'on the engine', ''], rows),
  ];
}

/** Every Node version of one run, in a collapsed section, with how it was measured. */
function nodesOf(run: BenchResult): string {
  const nodes = [...new Set(run.variants.map(({ name }) => name.split('/')[1]!))];
  const rows = frameworksOf(run).map(({ name, title }) => [
    title,
    ...nodes.map((node) => ratioText(measured(run, `${name}-redline/${node}`)?.rpsRatio)),
  ]);
  const heads = nodes.map((node) => `Node ${versionOf(run, node)}`);
  return [
    `<details><summary>Requests per second on every Node: ${modelOf(run)}</summary>`,
    table(['', ...heads], rows),
    describeRun(run),
    '</details>',
  ].join('\n\n');
}

/** Returns the frameworks in the order of the scenario. */
function frameworksOf({ variants }: BenchResult): { name: string; title: string }[] {
  return variants
    .filter(({ name }) => name.endsWith(`/${headlineNode}`) && !/-(?:redline|floor)\//.test(name))
    .map(({ name, note = name }) => ({ name: name.split('/')[0]!, title: note.split(',')[0]! }));
}

function versionOf({ variants }: BenchResult, node: string): string {
  const note = variants.find(({ name }) => name.endsWith(`/${node}`))?.note;
  return /, Node (.*)$/.exec(note ?? '')?.[1] ?? node;
}

function describeRun(run: BenchResult): string {
  return `One route that responds with 572 bytes of JSON, requested with ten headers over ${run.load.connections} connections.
${measuredOn(run)} of each pair; ${noise(run)}. ${rawData(`frameworks/${fileOf(run)}`)}`;
}
