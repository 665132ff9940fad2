// docs/guide/zoo.md and the README's line of it, from what `npm run zoo` wrote.
import type { AppResult, ZooResult } from '../tests/zoo/zoo-result.ts';
import { table } from './markdown-table.ts';
import { ratioText } from './ratio-text.ts';

/** The front line of the README and of the page. */
export function zooLine({ apps, interrupts }: ZooResult, folder: string): string {
  const equal = apps.filter(isEqual).length;
  const asked = apps.reduce((sum, app) => sum + app.asked, 0);
  const explained = apps.filter((app) => isEqual(app) && app.explained.length > 0).length;
  const noted = explained === 0 ? '' : ` (${explained} with a listed difference)`;
  const stopped =
    interrupts === undefined
      ? ''
      : ` \`redline try\` was interrupted at ${interrupts.trials} random moments: ${interrupts.left.length === 0 ? 'nothing was left behind' : `something was left behind ${interrupts.left.length} times`}.`;
  return `**${equal} of ${apps.length} foreign applications are byte-equal on the engine**${noted}: ${asked} requests, in four runs each, shutdown included ([the zoo](${folder})).${stopped}`;
}

/** The tables of docs/guide/zoo.md. */
export function zooTables(result: ZooResult): string {
  const { apps, machine, startedAt } = result;
  const notes = apps.flatMap(notesOf);
  return [
    zooLine(result, '../../tests/zoo'),
    table(
      ['app', 'what it is', 'requests', 'on the engine', 'CPU', 'requests/s', '`redline try`'],
      apps.map(rowOf),
    ),
    ...(notes.length === 0 ? [] : [notes.join('\n')]),
    ofTries(apps),
    `Node ${machine.node}, ${machine.cores} cores (${machine.cpuModel}), ${startedAt.slice(0, 10)}. Raw data: [zoo.json](../../benchmarks/results/zoo.json).`,
  ].join('\n\n');
}

/** How `redline try` behaved, whatever it found. */
function ofTries(apps: readonly AppResult[]): string {
  const tries = apps.flatMap(({ tried }) => (tried === undefined ? [] : [tried]));
  const timed = tries.filter(({ announcedSeconds }) => announcedSeconds !== undefined);
  const inTime = timed.filter(({ seconds, announcedSeconds }) => seconds <= 2 * announcedSeconds!);
  const clean = tries.filter(({ left }) => left.length === 0);
  const ended = tries.filter(({ exit }) => typeof exit === 'number');
  return [
    `\`redline try\` ended by itself on ${ended.length} of ${tries.length}; ${inTime.length} of ${timed.length} took at most twice the time that they had announced or were given.`,
    `It left no process, port or file on ${clean.length}. A row marked ° was measured beside other work: its gain is not to be quoted.`,
  ].join('\n');
}

function isEqual({ differences, failure }: AppResult): boolean {
  return differences.length === 0 && failure === undefined;
}

function rowOf(app: AppResult): string[] {
  const { name, version, what, asked, unsteady, engine, tried } = app;
  const gain = tried !== undefined && tried.word !== 'withheld';
  return [
    `${name} ${version}`,
    what,
    unsteady === 0 ? String(asked) : `${asked} (${unsteady} by their heads)`,
    stateOf(app) + (engine === 'native' || engine === '' ? '' : `; served by Node: ${engine}`),
    gain ? ratioText(tried.cpu) + (tried.isQuiet || tried.cpu === undefined ? '' : '°') : '–',
    gain ? ratioText(tried.rps) + (tried.isQuiet || tried.rps === undefined ? '' : '°') : '–',
    wordOf(tried),
  ].map((cell) => cell.replaceAll('|', '\\|').replaceAll(/\s+/g, ' '));
}

function stateOf(app: AppResult): string {
  const { differences, explained, failure } = app;
  if (failure !== undefined) return 'did not start';
  if (differences.length > 0) return `${differences.length} differences`;
  return explained.length > 0 ? 'equal, but see below' : 'equal';
}

function wordOf(tried: AppResult['tried']): string {
  if (tried === undefined) return '–';
  switch (tried.word) {
    case 'gains':
      return `it pays, for ${code(tried.request)}`;
    case 'nothing':
    case 'loses':
      return `*not for you*, for ${code(tried.request)}`;
    case 'unresolved':
      return `this run cannot tell, for ${code(tried.request)}`;
    case 'withheld':
      return 'withheld: the app differed from itself';
    case 'refused':
      return `*not measured*: ${escape(tried.sentence)}`;
  }
}

function code(request: string | undefined): string {
  return request === undefined ? 'its requests' : `\`${request}\``;
}

/** What an app printed is text, not Markdown. */
function escape(text: string): string {
  return text.replaceAll(/[<>*_`[\]]/g, (sign) => `\\${sign}`);
}

function notesOf({ name, explained, differences, failure, tried }: AppResult): string[] {
  return [
    ...explained.map((reason) => `- ${name}: ${reason}`),
    ...differences.map(({ ask, part }) => `- ${name}: ${part} of \`${ask}\` differs`),
    ...(failure === undefined ? [] : [`- ${name}: ${escape(failure.split('\n')[0]!)}`]),
    ...(tried === undefined || tried.left.length === 0
      ? []
      : [`- ${name}: \`redline try\` left ${escape(tried.left.join(', '))}`]),
  ];
}
