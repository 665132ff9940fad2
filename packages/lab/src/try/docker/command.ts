import { type Command, Option } from 'commander';
import type { CommandContext } from '../../command/context.ts';
import { collect } from '../../command/target-options.ts';
import { type ReportOptions, writeDocument } from '../../command/write-files.ts';
import { LabError } from '../../errors.ts';
import { invocation } from '../../secrets.ts';
import { servicesOf } from '../first-screen.ts';
import { tryDocument } from '../report/try-document.ts';
import type { TryResult } from '../result.ts';
import { resolveTarget, type TargetOptions, type TryTarget } from '../target.ts';
import { environmentOf } from './environment.ts';
import {
  defaultImage,
  type DockerOptions,
  type InnerEnd,
  say,
  tryInContainer,
} from './in-container.ts';

/** Adds the options of a trial in a container. */
export function addDocker(command: Command): Command {
  return command
    .option('--docker', 'run it in a Linux container, by Docker, Podman, nerdctl or Lima')
    .option('--image <name>', `with --docker: the image (default: ${defaultImage})`)
    .option(
      '--env <name=value>',
      'with --docker: set this in the container, or pass NAME on; repeatable',
      collect,
    )
    .option('--env-file <file>', 'with --docker: set what this file has; repeatable', collect)
    .addOption(new Option('--asks-by-pipe').hideHelp());
}

/** @throws {LabError} ERR_REDLINE_OPTION */
export function refuseWithoutDocker({ docker, image, env, envFile }: DockerOptions): void {
  const [other] = Object.entries({ image, env, 'env-file': envFile }).find(
    ([, value]) => docker === undefined && value !== undefined,
  ) ?? [undefined];
  if (other === undefined) return;
  throw new LabError('ERR_REDLINE_OPTION', `--${other} is for --docker: add that, or omit it.`);
}

const systems: Readonly<Record<string, string>> = { darwin: 'macOS', win32: 'Windows' };

/** @throws {LabError} ERR_REDLINE_TRY on a system that redline cannot gain anything for */
export function requireLinux(): void {
  const { platform } = process;
  if (platform === 'linux') return;
  throw new LabError(
    'ERR_REDLINE_TRY',
    `The engine of @redline/http is for Linux, and this is ${systems[platform] ?? platform}: add --docker to run the same trial in a Linux container, by Docker, Podman, nerdctl or Lima.`,
  );
}

/** Runs the trial in a container and writes its reports here. */
export async function runInDocker(
  words: readonly string[],
  command: Command,
  context: CommandContext,
): Promise<void> {
  const options = command.opts<DockerOptions & TargetOptions & ReportOptions>();
  // The words that were typed are checked here, before anything is fetched.
  const target = await resolveTarget(words, options);
  if (target.record !== undefined) {
    throw new LabError(
      'ERR_REDLINE_OPTION',
      '--record is for an app on this machine, because a browser cannot reach one in a container: record with the browser, and give its file with --har.',
    );
  }
  const env = environmentOf(options.env, options.envFile);
  const end = await tryInContainer(command, context);
  if (end.code === 1) sayWhereServicesAre(localServices(target, env), end);
  process.exitCode = end.code;
  if (end.code !== 0 || end.json === undefined) return;
  const result = resultOf(JSON.parse(end.json) as TryResult, end);
  const stem = `${result.bench.scenario}-${result.runId}`;
  await writeDocument({ stem, json: result, document: tryDocument(result) }, options);
}

function resultOf({ bench, ...result }: TryResult, { engine, image }: InnerEnd): TryResult {
  const typed = { invocation: invocation() };
  const warning = `Measured in a container of ${image} by ${engine.command[0]}, on the machine that this gives to containers.`;
  return {
    ...result,
    ...typed,
    bench: { ...bench, ...typed, warnings: [...bench.warnings, warning] },
  };
}

/** Lists the variables that name a service of this machine by a loopback address. */
function localServices(target: TryTarget, env: Record<string, string>): string[] {
  return servicesOf(target, env)
    .filter(({ value, isLocal }) => isLocal && !/^(file|sqlite):|^\//i.test(value))
    .map(({ name }) => name);
}

/** The errors of an app that does not reach a service, and the code for one that did not start. */
const unreached = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ERR_REDLINE_SERVER/;

function sayWhereServicesAre(named: readonly string[], { engine, stderr }: InnerEnd): void {
  if (named.length === 0 && !unreached.test(stderr)) return;
  const sentence = `In the container, localhost is the container itself. A service of this machine is at ${engine.host} there`;
  const remedy =
    named.length === 0
      ? 'give its address with --env.'
      : `give ${named.join(' and ')} with that name in place of localhost, with --env.`;
  say([`! ${sentence}: ${remedy}`]);
}
