import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { digestOf, readStored } from '../command/stored-run.ts';
import { shownPath } from '../command/write-files.ts';
import type { Plan } from '../config/resolve-plan.ts';
import { LabError } from '../errors.ts';
import { readMachine } from '../system/machine.ts';
import { git } from '../trees/git.ts';
import { splitGroups } from './groups.ts';
import type { BenchResult, Unfinished } from './result.ts';

/** One measured group. */
export interface Part {
  group: string | undefined;
  result: BenchResult;
}

/** An earlier run, and its complete groups. */
export interface Earlier {
  file: string;
  runId: string;
  startedAt: string;
  durationSeconds: number;
  parts: Part[];
}

/** Facts of the machine that figures of one file share. */
const machineFacts = ['cpuModel', 'cores', 'memoryGiB', 'kernel', 'node'] as const;

/** Returns what another run has to have in common with this one to go on with it. */
export async function identify(plans: readonly Plan[], folder: string): Promise<Identity> {
  // Outside a repository there is nothing to compare.
  const commit = await git(['rev-parse', 'HEAD'], { cwd: folder }).catch(() => '');
  const groups = plans.map((plan) => [plan.group ?? '', digestOf(configurationOf(plan))]);
  return { commit, groups: Object.fromEntries(groups) as Identity['groups'] };
}

export type Identity = Omit<Unfinished, 'missing'>;

/** The seed differs from run to run. A function is compared by its text. */
function configurationOf(plan: Plan): object {
  const { setup, verify } = plan;
  return { ...plan, seed: undefined, setup: String(setup), verify: String(verify) };
}

/** Returns the newest unfinished result of a scenario in a folder. */
export function newestUnfinished(folder: string, scenario: string): string | undefined {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    return undefined;
  }
  return names
    .filter((name) => name.startsWith(`${scenario}-`) && name.endsWith('.json'))
    .map((name) => join(folder, name))
    .filter((file) => readStored<BenchResult>(file)?.unfinished !== undefined)
    .toSorted((one, other) => statSync(other).mtimeMs - statSync(one).mtimeMs)[0];
}

/**
 * Reads the complete groups of an interrupted run.
 * @throws {LabError} ERR_REDLINE_OPTION if they belong to another run than the one asked for
 */
export function readEarlier(
  file: string,
  { identity, redlineVersion }: { identity: Identity; redlineVersion: string },
): Earlier | undefined {
  const result = readStored<BenchResult>(file);
  if (result === undefined) return undefined;
  const difference =
    result.unfinished === undefined
      ? 'it is not the result of an interrupted run'
      : differenceOf(result, result.unfinished, { identity, redlineVersion });
  if (difference !== undefined) {
    throw new LabError(
      'ERR_REDLINE_OPTION',
      `--continue cannot go on with ${shownPath(file)}: ${difference}. Without --continue, everything is measured again.`,
    );
  }
  const { runId, startedAt, durationSeconds } = result;
  const parts = splitGroups(result).map((part, at) => ({
    group: result.groups![at]!.name,
    result: part,
  }));
  return { file, runId, startedAt, durationSeconds, parts };
}

function differenceOf(
  result: BenchResult,
  { commit, groups }: Unfinished,
  { identity, redlineVersion }: { identity: Identity; redlineVersion: string },
): string | undefined {
  const here = readMachine('');
  const fact = machineFacts.find((each) => result.machine[each] !== here[each]);
  if (fact !== undefined) {
    return `it was measured on another machine, where ${fact} is ${result.machine[fact]}; here it is ${here[fact]}`;
  }
  if (commit !== identity.commit) {
    return `it was measured at commit ${short(commit)}; this is ${short(identity.commit)}`;
  }
  if (result.redlineVersion !== redlineVersion) {
    return `it was measured by redline ${result.redlineVersion}; this is ${redlineVersion}`;
  }
  const [names, asked] = [Object.keys(groups), Object.keys(identity.groups)];
  if (names.join() !== asked.join()) {
    return `its groups are ${names.join(', ')}; those asked for are ${asked.join(', ')}`;
  }
  const other = asked.find((name) => groups[name] !== identity.groups[name]);
  return other === undefined ? undefined : `its group ${other} has another configuration`;
}

function short(commit: string): string {
  return commit === '' ? 'none' : commit.slice(0, 8);
}
