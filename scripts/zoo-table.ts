// The tables of docs/guide/zoo.md and the line in the README, from the result of `npm run zoo`.
import type { Interval } from '@redline/lab';
import type { AppResult, ZooResult } from '../tests/zoo/zoo-result.ts';
import { table } from '../benchmarks/tables/format.ts';
import { ratioText } from '../benchmarks/tables/format.ts';

/** The summary line of the README and the page. */
export function zooLine({ apps, interrupts }: ZooResult, folder: string): string {
  const equal = apps.filter(isEqual).length;
  const asked = apps.reduce((sum, app) => sum + app.asked, 0);
  const explained = apps.filter((app) => isEqual(app) && app.explained.length > 0).length;
  const noted = explained === 0 ? '' : ` (${explained} with a listed difference)`;
  const stopped =
    interrupts === undefined
      ? ''
      : ` \`redline try\` was interrupted at ${interrupts.done.length} random moments: ${interrupts.left.length === 0 ? 'nothing was left behind' : `something was left behind ${interrupts.left.length} times`}.`;
  return `**${equal} of ${apps.length} foreign applications are byte-equal on the engine**${noted}: ${asked} requests, in four runs each, shutdown included ([the zoo](${folder})).${stopped}`;
}

/** The tables of docs/guide/zoo.md. */
export function zooTables(result: ZooResult): string {
  const { apps, machine, startedAt } = result;
  const notes = apps.flatMap(notesOf);
  const asked = apps.reduce((sum, app) => sum + app.asked, 0);
  const succeeded = apps.reduce((sum, app) => sum + app.succeeded, 0);
  return [
    zooLine(result, '../../tests/zoo'),
    `${succeeded} of the ${asked} requests succeed; the others ask for what is missing, forbidden or malformed.`,
    table(
      ['app', 'what it is', 'requests', 'on the engine', '`redline try` says'],
      apps.map(rowOf),
    ),
    ...(notes.length === 0 ? [] : [notes.join('\n')]),
    ofTries(apps),
    `Node ${machine.node}, ${machine.cores} cores (${machine.cpuModel}), ${startedAt.slice(0, 10)}. Raw data: [zoo.json](../../benchmarks/results/zoo.json).`,
  ].join('\n\n');
}

/** Describes the behaviour of `redline try`, whatever its verdicts. */
function ofTries(apps: readonly AppResult[]): string {
  const tries = apps.flatMap(({ tried }) => (tried === undefined ? [] : [tried]));
  const timed = tries.filter(({ tookSeconds }) => tookSeconds !== undefined);
  const inTime = timed.filter((each) => each.tookSeconds! <= 2 * each.announcedSeconds!);
  const clean = tries.filter(({ left }) => left.length === 0);
  const ended = tries.filter(({ exit }) => typeof exit === 'number');
  const given = [...Map.groupBy(tries, ({ givenSeconds }) => givenSeconds)]
    .toSorted(([one], [other]) => other - one)
    .map(([seconds, of]) => `${seconds} s for ${of.length} apps`);
  return [
    `\`redline try\` was given ${given.join(', ')}. It ended by itself on ${ended.length} of ${tries.length}; ${inTime.length} of the ${timed.length} that announced a time took at most twice as long.`,
    `It left no process, port or file on ${clean.length}. A row marked ° was measured beside other work: its gain is not to be quoted.`,
  ].join('\n');
}

function isEqual({ differences, failure }: AppResult): boolean {
  return differences.length === 0 && failure === undefined;
}

function rowOf(app: AppResult): string[] {
  const { name, version, what, asked, unsteady, engine, tried } = app;
  return [
    `${name} ${version}`,
    what,
    unsteady === 0 ? String(asked) : `${asked} (${unsteady} by their heads)`,
    stateOf(app) + (engine === 'native' || engine === '' ? '' : `; served by Node: ${engine}`),
    saidOf(tried),
  ].map((cell) => cell.replaceAll('|', '\\|').replaceAll(/\s+/g, ' '));
}

function stateOf(app: AppResult): string {
  const { differences, explained, failure } = app;
  if (failure !== undefined) return 'did not start';
  if (differences.length > 0) return `${differences.length} differences`;
  return explained.length > 0 ? 'equal, but see below' : 'equal';
}

const longestRequest = 60;

/** Max factor between the ends of an interval that is useful to a reader. */
const saysNothing = 4;

/** Returns the gain with its intervals, or the sentence of the command. */
function saidOf(tried: AppResult['tried']): string {
  if (tried === undefined) return 'not tried yet';
  const { word, cpu, rps, request, sentence } = tried;
  const busy = tried.isQuiet ? '' : '°';
  const gains = [
    ...(isUseful(cpu) ? [`${ratioText(cpu)} less CPU for each request`] : []),
    ...(isUseful(rps) ? [`${ratioText(rps)} the requests/s`] : []),
  ].join(', ');
  switch (gains === '' && word !== 'refused' ? 'unresolved' : word) {
    case 'gains':
      return `it pays: ${gains}${busy}, for ${code(request)}`;
    case 'nothing':
    case 'loses':
      return `*not for you*: ${gains}${busy}, for ${code(request)}`;
    case 'unresolved':
    case 'withheld':
      return `${escape(firstSentence(sentence))}${busy} (${code(request)})`;
    case 'refused':
      return `*not measured*: ${escape(sentence)}`;
  }
}

function isUseful(ratio: Interval | undefined): ratio is Interval {
  return ratio !== undefined && ratio.high <= saysNothing * ratio.low;
}

/** The second sentence is the remedy. */
function firstSentence(text: string): string {
  return /^.*?[.!?](?=\s[A-Z]|$)/s.exec(text)?.[0] ?? text;
}

function code(request: string | undefined): string {
  if (request === undefined) return 'its requests';
  const text = decodeURI(request);
  // A token is meaningless to a reader.
  return `\`${text.length > longestRequest ? text.replace(/\?.*$/, '?…') : text}\``;
}

/** Escapes an app's output, which is text, not Markdown. */
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
