// `npm run bench -- turn-shares FILE…`: over which share of a server's turns should CPU per request be averaged? Takes
// recorded results, by default all of benchmarks/results, and prints how much starts of one server vary with each share of
// its main thread's turns, after removing the effect that a restart has on all servers alike. The other threads use their
// lowest quarter throughout.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import type { BenchResult, Slice } from '@redline/lab';
import { lowestMean } from '../draws.ts';

const shares = [1 / 8, 1 / 4, 3 / 8, 1 / 2, 5 / 8, 3 / 4, 1];
/** The share with which the others are compared. */
const before = shares.indexOf(1 / 4);
const minServers = 3;
const minRestarts = 3;

const results = relative('.', join(import.meta.dirname, '../results'));
const files = process.argv.slice(2);
if (files.length === 0) {
  files.push(
    ...readdirSync(results)
      .filter((name) => name.endsWith('.json'))
      .map((name) => join(results, name)),
  );
}

const head = ['', 'servers', 'restarts', ...shares.map(String)];
process.stdout.write(`${row(head)}\n`);
const ratios = files.flatMap(ratiosOf);
const means = shares.map((_, at) =>
  Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio[at]!), 0) / ratios.length),
);
if (ratios.length > 0) {
  const [title, none] = [`against ${shares[before]}, typically`, ''];
  process.stdout.write(`${row([title, none, none, ...means.map((each) => each.toFixed(2))])}\n`);
}

/** Prints a line per group of servers in a file; returns their spreads as multiples of the spread with the lowest quarter. */
function ratiosOf(file: string): number[][] {
  const result = JSON.parse(readFileSync(file, 'utf8')) as BenchResult;
  if (!('control' in result) || !('slices' in result)) return [];
  return (result.groups ?? [result]).flatMap((part) => {
    const group = 'name' in part ? part.name : undefined;
    const names = new Set([
      part.control.name,
      ...result.variants.filter((each) => each.group === group).map(({ name }) => name),
    ]);
    const own = result.slices.filter(({ variant, turns }) => names.has(variant) && hasMain(turns));
    if (own.length === 0) return [];
    const restarts = [...Map.groupBy(own, ({ restart }) => restart).values()].map((each) =>
      Map.groupBy(each, ({ variant }) => variant),
    );
    const servers = [...restarts[0]!.keys()].filter((name) =>
      restarts.every((restart) => restart.has(name)),
    );
    if (servers.length < minServers || restarts.length < minRestarts) return [];
    const spreads = shares.map((share) =>
      spreadOf(restarts.map((of) => servers.map((name) => Math.log(level(of.get(name)!, share))))),
    );
    const name = [basename(file, '.json'), group].filter(Boolean).join(' ');
    const cells = [name, servers.length, restarts.length, ...spreads.map(percent)].map(String);
    process.stdout.write(`${row(cells)}\n`);
    return [spreads.map((spread) => spread / spreads[before]!)];
  });
}

/** Some results only contain the sum of all turns. */
function hasMain(turns: Slice['turns']): boolean {
  return Array.isArray(turns) && turns.some((turn) => turn.mainThreadMicros !== undefined);
}

function level(slices: readonly Slice[], share: number): number {
  const turns = slices.flatMap(({ turns: own = [] }) => own);
  const main = turns.map(({ mainThreadMicros = 0, requests }) => mainThreadMicros / requests);
  const all = turns.map(({ cpuMicros, requests }) => cpuMicros / requests);
  const others = all.map((micros, at) => micros - main[at]!);
  return lowestMean(main, share) + lowestMean(others, shares[before]!);
}

/** Returns the standard deviation explained neither by restart nor by server; one row per restart. */
function spreadOf(levels: readonly (readonly number[])[]): number {
  const [restarts, servers] = [levels.length, levels[0]!.length];
  const ofRestart = levels.map(mean);
  const ofServer = levels[0]!.map((_, server) => mean(levels.map((of) => of[server]!)));
  const all = mean(ofRestart);
  const squares = levels.flatMap((of, restart) =>
    of.map((each, server) => (each - ofRestart[restart]! - ofServer[server]! + all) ** 2),
  );
  return Math.sqrt((mean(squares) * restarts * servers) / ((restarts - 1) * (servers - 1)));
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

function row([name, ...cells]: readonly string[]): string {
  return [name!.padEnd(34), ...cells.map((cell) => cell.padStart(9))].join('');
}
