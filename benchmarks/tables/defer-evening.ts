// Writes the paragraph of packages/defer/README.md about a run of `npm run faults:defer`.
import type { EveningResult } from '../../packages/defer/test/faults/evening/evening-result.ts';

export function eveningText({
  acknowledged,
  lost,
  trials,
  startedAt,
  command,
}: EveningResult): string {
  const ran = trials.filter(({ missing, isControl }) => missing === undefined && !isControl);
  const kindsOf = (start: string): number =>
    new Set(ran.map(({ kind }) => kind).filter((kind) => kind.startsWith(start))).size;
  const servers = ran.filter(({ kind }) => kind.startsWith('server: '));
  const names = [...new Set(servers.map(({ kind }) => kind.replace('server: ', '')))];
  const sum = (values: readonly number[]): string =>
    group(values.reduce((all, each) => all + each, 0));
  const controls = trials.filter(({ isControl }) => isControl);
  return [
    `${group(lost)} of ${group(acknowledged)} acknowledged jobs were lost in ${ran.length} trials on ${startedAt.slice(0, 10)}: ${kindsOf('disk: ')} kinds of bad disks by a preloaded`,
    'library, power failures by a model of what was synced, SIGSTOP and outages, and kills and pauses of the servers of',
    `${names.length} sinks (${names.join(', ')}) while jobs flowed; ${sum(ran.map(({ lives }) => lives))} apps on four frameworks, a third of them sealed, each ended by`,
    `kill -9. ${sum(ran.map(({ again }) => again))} jobs arrived more than once, and ${sum(ran.map(({ refused }) => refused))} requests were refused or cut off. At level \`process\` the power failures lost ${sum(controls.map((each) => each.lost))} of`,
    `${sum(controls.map((each) => each.acknowledged))} jobs, as they must. Command: \`${command}\`. Raw data:`,
    '[benchmarks/results/defer-evening.json](../../benchmarks/results/defer-evening.json).',
  ].join('\n');
}

function group(count: number): string {
  return String(count).replaceAll(/\B(?=(\d{3})+$)/g, ' ');
}
