import { type Command, InvalidArgumentError } from 'commander';
import { randomBytes } from 'node:crypto';
import { basename } from 'node:path';
import { readReplayList, type ReplayList } from './replay-list.ts';
import { RoutePatterns } from './route-pattern.ts';
import { RouteCosts, type TopResult } from './top.ts';
import { topDocument } from './top-document.ts';
import { isUrl } from '../config/from-url.ts';
import { LabError } from '../errors.ts';
import { type ReplayOutcome, runReplay } from '../load/replay.ts';
import { fixed } from '../report/format.ts';
import { PhaseLine } from '../report/phase-line.ts';
import { withServer } from '../servers/with-server.ts';
import type { CommandContext } from '../command/context.ts';
import { type Asked, chooseVariant } from '../command/choose-variant.ts';
import { parseCount } from '../command/options.ts';
import { addRenamed } from '../command/renamed-options.ts';
import { addHeaders, collect } from '../command/target-options.ts';
import { addReports, type ReportOptions, writeDocument } from '../command/write-files.ts';
import { invocation, withoutSecrets } from '../secrets.ts';
import { parseHeaders } from '../config/request-options.ts';

interface ReplayCommandOptions extends ReportOptions {
  variant?: string;
  route?: string;
  header?: string[];
  rate: number;
  rps?: number;
  connections: number;
  rows: number;
  group?: string[];
  format?: string;
}

export function addReplayCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('replay')
    .description('replay an access log against a server, at the same times')
    .argument(
      '<log>',
      'access log of a logger, proxy or load balancer, also .gz; - is standard input',
    )
    .argument('[target]', 'URL of a running app or of the given command, or a config', '.')
    .argument('[command...]', 'after --: the command that starts the app, for a URL')
    .option('--variant <name>', 'variant of the config (default: the baseline)')
    .option('--route <pattern>', 'use only the requests of this route')
    .option('--rate <x>', 'speed relative to the recording', parseRate, 1)
    .option(
      '--rps <n>',
      'send at this rate, in requests per second, instead of the recorded times',
      parseRate,
    )
    .option('--connections <n>', 'maximum number of sockets', parseCount, 256)
    .option('--rows <n>', 'number of routes to print', parseCount, 15)
    .option('--format <format>', 'nginx log_format or Apache LogFormat of the log')
    .option(
      '--group <pattern>',
      'treat paths of this pattern as one route, e.g. /users/:name; repeatable',
      collect,
    );
  addRenamed(addReports(addHeaders(command)), {
    '--url': 'give the URL as the second argument, redline replay access.log http://127.0.0.1:3000',
  })
    .addHelpText('after', helpText)
    .action((file: string, target: string, words: string[], options: ReplayCommandOptions) =>
      run(file, { target, command: words }, options, context),
    );
}

async function run(
  file: string,
  asked: Asked,
  options: ReplayCommandOptions,
  { version, signal }: CommandContext,
): Promise<void> {
  const startedAt = new Date().toISOString();
  const patterns = new RoutePatterns(options.group ?? []);
  const headers = parseHeaders(options.header ?? []);
  using line = new PhaseLine('replay');
  const phase = (text: string): void => line.show(text);
  phase('reading the log');
  const list = await readReplayList(file, signal, options);
  const requests = list.requests.map((request) => ({ ...request, headers }));
  const atMs = scheduleOf(list, options, file);
  const { server, outcome } = await replayAgainst(
    asked,
    options.variant,
    { signal, phase },
    (origin) => {
      phase(`sending ${fixed(atMs.length)} requests, ${fixed(atMs.at(-1)! / 1_000)} s`);
      return runReplay({ origin, requests, atMs, connections: options.connections }, signal);
    },
  );
  if (outcome.answers.length === 0) {
    throw new LabError('ERR_REDLINE_LOAD', `${server} did not respond to any request.`);
  }
  const result = withoutSecrets<TopResult>({
    ...resultOf(list, outcome, patterns),
    title: titleOf(file, server, options),
    files: [file],
    redlineVersion: version,
    startedAt,
  });
  line[Symbol.dispose]();
  const document = topDocument(result, options.rows);
  await writeDocument({ stem: `replay-${result.runId}`, json: result, document }, options);
}

function titleOf(file: string, server: string, { rps, rate }: ReplayCommandOptions): string {
  const log = file === '-' ? 'standard input' : basename(file);
  const how = rps === undefined ? `${rate} × as recorded` : `${rps} requests/s`;
  return `${log} against ${server}, ${how}`;
}

function resultOf(
  list: ReplayList,
  outcome: ReplayOutcome,
  patterns: RoutePatterns,
): Omit<TopResult, 'title' | 'files' | 'redlineVersion' | 'startedAt'> {
  const costs = new RouteCosts(patterns);
  for (const [index, status, durationMs] of outcome.answers) {
    costs.add({ ...list.requests[index]!, status, durationMs });
  }
  return {
    schema: 1,
    command: 'replay',
    invocation: invocation(),
    runId: randomBytes(3).toString('hex'),
    counts: {
      lines: list.requests.length,
      requests: outcome.answers.length,
      other: 0,
      unreadable: 0,
      unreadableSamples: [],
    },
    ...costs.summarise(),
    spanSeconds: outcome.seconds,
    warnings: [...list.warnings, ...faultsOf(outcome)],
  };
}

/** Uses the running server, on any machine, when only a URL is given; otherwise starts one. */
async function replayAgainst(
  asked: Asked,
  variantName: string | undefined,
  progress: { signal: AbortSignal; phase: (text: string) => void },
  work: (origin: string) => Promise<ReplayOutcome>,
): Promise<{ server: string; outcome: ReplayOutcome }> {
  if (isUrl(asked.target) && asked.command?.length === 0) {
    const origin = originOf(asked.target);
    return { server: origin, outcome: await work(origin) };
  }
  const { plan, variant } = await chooseVariant(asked, variantName);
  const outcome = await withServer({ plan, variant }, progress, ({ server }) => {
    server.pin();
    return work(server.url);
  });
  return { server: variant.name, outcome };
}

function scheduleOf(list: ReplayList, { rate, rps }: ReplayCommandOptions, file: string): number[] {
  if (rps !== undefined) return list.requests.map((_, index) => (index * 1_000) / rps);
  if (list.atMs === undefined) {
    throw new LabError(
      'ERR_REDLINE_OPTION',
      `${file} has no request times; give a rate with --rps.`,
    );
  }
  return list.atMs.map((at) => at / rate);
}

function faultsOf({ answers, failed }: ReplayOutcome): string[] {
  const bad = answers.filter(([, status]) => status >= 400).length;
  return [
    ...(failed > 0 ? [`${failed} requests got no response.`] : []),
    ...(bad > 0
      ? [
          `${bad} of ${answers.length} had a status of 400 or above but succeeded in the log; check that the server has the same data.`,
        ]
      : []),
  ];
}

function originOf(text: string): string {
  if (URL.canParse(text)) return new URL(text).origin;
  throw new LabError('ERR_REDLINE_OPTION', `"${text}" is not a URL such as http://127.0.0.1:3000.`);
}

function parseRate(text: string): number {
  const rate = Number(text);
  if (Number.isFinite(rate) && rate > 0) return rate;
  throw new InvalidArgumentError('It takes a number above 0.');
}

const helpText = `
Examples:
  redline replay access.log http://127.0.0.1:3000 --rate 2
  redline replay access.log http://127.0.0.1:3000 -- node server.js
  redline bench --replay access.log               the same list as the load of a comparison
  redline flame --replay access.log               and of a profile
  redline stairs --replay access.log              and of the stages its requests share

Exit status: 0 replayed, 1 the log or the server failed, 2 wrong input, 130 interrupted.`;
