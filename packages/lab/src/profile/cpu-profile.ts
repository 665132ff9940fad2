import { readFile } from 'node:fs/promises';
import { LabError } from '../errors.ts';

/** A profile in the format of Chrome's DevTools protocol and `--cpu-prof`. */
export interface CpuProfile {
  nodes: ProfileNode[];
  /** Microseconds of the clock of `process.hrtime`. */
  startTime: number;
  endTime: number;
  /** Ids of the nodes that were on top of the stack. */
  samples: number[];
  /** Microseconds from each sample to the one before it. */
  timeDeltas: number[];
}

export interface ProfileNode {
  id: number;
  callFrame: CallFrame;
  /** Samples with it on top, by line; lines from 1. */
  positionTicks?: { line: number; ticks: number }[];
  children?: number[];
}

export interface CallFrame {
  functionName: string;
  url: string;
  /** From 0; -1 without source. */
  lineNumber: number;
  columnNumber: number;
}

/**
 * Reads a `.cpuprofile`.
 * @throws {LabError} ERR_REDLINE_PROFILE when the file does not exist, is not a CPU profile, or has no samples
 */
export async function readCpuProfile(file: string): Promise<CpuProfile> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (cause) {
    throw new LabError('ERR_REDLINE_PROFILE', `No such profile: ${file}.`, { cause });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new LabError(
      'ERR_REDLINE_PROFILE',
      `${file} is not valid JSON; a .cpuprofile was expected.`,
      { cause },
    );
  }
  return checkCpuProfile(value, file);
}

/**
 * @param from Name of the source, for the message.
 * @throws {LabError} ERR_REDLINE_PROFILE
 */
export function checkCpuProfile(value: unknown, from: string): CpuProfile {
  const profile = value as Partial<CpuProfile> | null;
  if (!Array.isArray(profile?.nodes) || !Array.isArray(profile.samples)) {
    throw new LabError(
      'ERR_REDLINE_PROFILE',
      `${from} is not a CPU profile: "nodes" and "samples" are missing. node --cpu-prof and redline flame write one.`,
    );
  }
  if (profile.samples.length === 0 || profile.nodes.length === 0) {
    throw new LabError(
      'ERR_REDLINE_PROFILE',
      `${from} is empty: no sample was taken. Profile for longer, under load.`,
    );
  }
  const { nodes, samples, startTime = 0 } = profile;
  const timeDeltas = profile.timeDeltas ?? samples.map(() => 1_000);
  const length = timeDeltas.reduce((sum, delta) => sum + delta, 0);
  return { nodes, samples, timeDeltas, startTime, endTime: profile.endTime ?? startTime + length };
}

/** Returns each node's parent; the root has none. */
export function parentsOf(profile: CpuProfile): Map<number, ProfileNode> {
  const parents = new Map<number, ProfileNode>();
  for (const node of profile.nodes) {
    for (const child of node.children ?? []) parents.set(child, node);
  }
  return parents;
}
