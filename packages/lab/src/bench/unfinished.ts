import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readStored } from '../command/stored-run.ts';
import { shownPath } from '../command/write-files.ts';
import { LabError } from '../errors.ts';
import { readMachine } from '../system/machine.ts';
import type { TreeState } from '../trees/tree-state.ts';
import { splitGroups } from './groups.ts';
import type { Identity } from './identity.ts';
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
    .filter((file) => isUnfinishedOf(readStored<unknown>(file), scenario))
    .toSorted((one, other) => statSync(other).mtimeMs - statSync(one).mtimeMs)[0];
}

/** The name of another config may begin with this one's. */
function isUnfinishedOf(content: unknown, scenario: string): boolean {
  return isResult(content) && content.scenario === scenario && content.unfinished !== undefined;
}

/**
 * Reads the complete groups of an interrupted run.
 * @returns undefined if there is no such file
 * @throws {LabError} ERR_REDLINE_OPTION if it has no groups of the run that was asked for
 */
export function readEarlier(
  file: string,
  { identity, redlineVersion }: { identity: Identity; redlineVersion: string },
): Earlier | undefined {
  const result = readResult(file);
  if (result === undefined) return undefined;
  const difference =
    result.unfinished === undefined
      ? 'it is not the result of an interrupted run'
      : differenceOf(result, result.unfinished, { identity, redlineVersion });
  if (difference !== undefined) throw refusal(file, difference);
  const { runId, startedAt, durationSeconds } = result;
  const parts = splitGroups(result).map((part, at) => ({
    group: result.groups![at]!.name,
    result: part,
  }));
  return { file, runId, startedAt, durationSeconds, parts };
}

function readResult(file: string): BenchResult | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw refusal(file, `it cannot be read (${message})`, cause);
  }
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (cause) {
    throw refusal(file, notAResult, cause);
  }
  if (isResult(content)) return content;
  throw refusal(file, notAResult);
}

const notAResult = 'it is not a result of redline bench';

function refusal(file: string, why: string, cause?: unknown): LabError {
  return new LabError(
    'ERR_REDLINE_OPTION',
    `--continue cannot go on with ${shownPath(file)}: ${why}. Without --continue, everything is measured again.`,
    { cause },
  );
}

/** Checks as much as is read here: a file of the user's may have any content. */
function isResult(content: unknown): content is BenchResult {
  if (!isObject(content) || !isObject(content['machine'])) return false;
  const { unfinished, groups, variants, slices } = content;
  if (!Array.isArray(variants) || !Array.isArray(slices)) return false;
  if (unfinished === undefined) return true;
  if (!Array.isArray(groups) || !isObject(unfinished)) return false;
  return Array.isArray(unfinished['trees']) && isObject(unfinished['groups']);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function differenceOf(
  result: BenchResult,
  { trees, groups, environment }: Unfinished,
  { identity, redlineVersion }: { identity: Identity; redlineVersion: string },
): string | undefined {
  const here = readMachine('');
  const fact = machineFacts.find((each) => result.machine[each] !== here[each]);
  if (fact !== undefined) {
    return `it was measured on another machine, where ${fact} is ${result.machine[fact]}; here it is ${here[fact]}`;
  }
  const outside = identity.trees.find(({ commit }) => commit === '');
  if (outside !== undefined) {
    return `${inWords(outside)} is in no git repository that has a commit, so that nothing tells if its code is the same`;
  }
  const before = (tree: TreeState): TreeState | undefined =>
    trees.find(({ folder }) => folder === tree.folder);
  const moved = identity.trees.find((tree) => before(tree)?.commit !== tree.commit);
  if (moved !== undefined) {
    const where = moved.folder === '.' ? '' : ` of ${moved.folder}`;
    return `it was measured at commit ${short(before(moved)?.commit)}${where}; this is ${short(moved.commit)}`;
  }
  if (result.redlineVersion !== redlineVersion) {
    return `it was measured by redline ${result.redlineVersion}; this is ${redlineVersion}`;
  }
  const [names, asked] = [Object.keys(groups), Object.keys(identity.groups)];
  if (names.join() !== asked.join()) {
    return `its groups are ${names.join(', ')}; those asked for are ${asked.join(', ')}`;
  }
  const other = asked.find((name) => groups[name] !== identity.groups[name]);
  if (other !== undefined) return `its group ${other} has another configuration`;
  const edited = identity.trees.find((tree) => before(tree)?.changes !== tree.changes);
  if (edited !== undefined) {
    return `files of ${inWords(edited)} that are not committed have changed since it was measured`;
  }
  return environment === identity.environment
    ? undefined
    : 'it was measured with other environment variables';
}

function inWords({ folder }: TreeState): string {
  return folder === '.' ? 'this folder' : folder;
}

function short(commit = ''): string {
  return commit === '' ? 'none' : commit.slice(0, 8);
}
