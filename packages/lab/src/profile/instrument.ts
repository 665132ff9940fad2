import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import type { PlannedVariant } from '../config/resolve-plan.ts';
import { LabError } from '../errors.ts';

const run = promisify(execFile);

/** Facts that a variant's Node reports about itself. */
export interface NodeFacts {
  /** e.g. `24.21.0` */
  version: string;
  major: number;
  /** Names of the V8 flags it knows, without dashes. */
  flags: Set<string>;
}

/** Returns true if a program is Node, by its name: `node`, `nodejs`, `node24`, `/opt/node/bin/node`, or the one that runs this. */
export function isNode(program: string): boolean {
  return program === process.execPath || /^node(js)?[-v\d.]*(\.exe)?$/i.test(basename(program));
}

/** The oldest version whose inspector can take a profile. */
const oldestMajor = 8;

/**
 * Asks the program of a variant which Node it is.
 * @throws {LabError} ERR_REDLINE_PROFILE when the command does not start Node itself, or one too old
 */
export async function inspectNode({ name, command, cwd }: PlannedVariant): Promise<NodeFacts> {
  const program = command[0]!;
  if (!isNode(program)) {
    throw new LabError(
      'ERR_REDLINE_PROFILE',
      `"${name}" is started by ${program}, but profiling needs flags of node: write its command as node FILE.`,
    );
  }
  try {
    const { stdout: version } = await run(program, ['--version'], { cwd });
    const { stdout: help } = await run(program, ['--v8-options'], { cwd, maxBuffer: 2 ** 24 });
    const major = Number(/^v(\d+)/.exec(version)?.[1]);
    if (major < oldestMajor) throw tooOld(name, version.trim());
    return {
      version: version.trim().slice(1),
      major,
      flags: new Set([...help.matchAll(/^\s+--([\w-]+)/gm)].map(([, flag]) => normal(flag!))),
    };
  } catch (cause) {
    if (cause instanceof LabError) throw cause;
    const reason = (cause as Error).message.split('\n', 1)[0];
    throw new LabError('ERR_REDLINE_PROFILE', `"${name}" cannot be started: ${reason}.`, { cause });
  }
}

function tooOld(name: string, version: string): LabError {
  return new LabError(
    'ERR_REDLINE_PROFILE',
    `"${name}" runs on Node ${version}, which cannot be profiled this way; Node ${oldestMajor} or newer can.`,
  );
}

/** Normalises a flag: V8 accepts both spellings, and lists one or the other. */
function normal(flag: string): string {
  return flag.replaceAll('_', '-');
}

/** Returns the variant with files that each of its Node programs loads first. */
export function withPreloads(
  variant: PlannedVariant,
  files: readonly string[],
  env: Readonly<Record<string, string>>,
): PlannedVariant {
  const given = variant.env['NODE_OPTIONS'] ?? process.env['NODE_OPTIONS'];
  const preloads = files.map((file) => `--require=${/\s/.test(file) ? `"${file}"` : file}`);
  return {
    ...variant,
    env: {
      ...variant.env,
      ...env,
      NODE_OPTIONS: [...(given ? [given] : []), ...preloads].join(' '),
    },
  };
}

/** Returns the variant with flags for node before everything else. */
export function withNodeFlags(variant: PlannedVariant, flags: readonly string[]): PlannedVariant {
  const [program, ...args] = variant.command;
  return { ...variant, command: [program!, ...flags, ...args] };
}

/** Returns the flags that make V8 log the code it generates and discards. */
export function logFlags({ flags, major }: NodeFacts, folder: string): string[] {
  return [
    '--log-code',
    // A separate flag since Node 16; before that, --log-code covers it.
    ...(flags.has('log-deopt') ? ['--log-deopt'] : []),
    // Worker threads get their own files. Old versions put the prefix before the folder, so there all share one file.
    ...(major < 16 ? ['--no-logfile-per-isolate'] : []),
    `--logfile=${join(folder, 'v8.log')}`,
  ];
}

/**
 * Returns the flags that make V8 also record its code while a profile is taken: in the format of Linux perf, with the times of the
 * system's clock. Before Node 22 the file would be written where the server runs.
 */
export function dumpFlags({ flags }: NodeFacts, folder: string): string[] {
  if (process.platform !== 'linux' || !flags.has('perf-prof-path')) return [];
  return [
    '--perf-prof',
    `--perf-prof-path=${folder}`,
    '--redirect-code-traces',
    `--redirect-code-traces-to=${codeTraceFile(folder)}`,
  ];
}

/** Returns the file of V8's reports about the code it leaves. */
export function codeTraceFile(folder: string): string {
  return join(folder, 'code.txt');
}

/** Returns the file of V8's dump of its code. */
export function dumpFile(folder: string, pid: number): string {
  return join(folder, `jit-${pid}.dump`);
}

/** Finds, among several logs of one folder, that of the isolate that ran a script of this name. */
export async function findLog(folder: string, script: string): Promise<string | undefined> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('v8.log'));
  const files = names.map((name) => join(folder, name));
  for (const file of files) {
    if ((await readFile(file, 'latin1')).includes(script)) return file;
  }
  return files.length === 1 ? files[0] : undefined;
}
