import { InvalidArgumentError, Option, type Command } from 'commander';
import { randomBytes } from 'node:crypto';
import { basename } from 'node:path';
import { readReplayList, type ReplayList } from '../access-log/replay-list.ts';
import { RoutePatterns } from '../access-log/route-pattern.ts';
import { RouteCosts, type TopResult } from '../access-log/top.ts';
import { renderTopHtml, renderTopTerminal } from '../access-log/top-report.ts';
import { LabError } from '../errors.ts';
import { type ReplayOutcome, runReplay } from '../load/replay.ts';
import { fixed } from '../report/format.ts';
import { PhaseLine } from '../report/phase-line.ts';
import type { CommandContext } from './bench.ts';
import { parseCount } from './options.ts';
import { type ReportOptions, writeFiles } from './write-files.ts';
import { invocation } from '../secrets.ts';

interface ReplayOptions extends ReportOptions {
  url: string;
  rate: number;
  rps?: number;
  connections: number;
  rows: number;
  group: string[];
}

export function addReplayCommand(program: Command, context: CommandContext): void {
  program
    .command('replay')
    .description('replay an access log against a running server, at the same times')
    .argument(
      '<log>',
      'access log of pino, winston, Nest, morgan, Caddy, nginx or Apache, also .gz; - is standard input',
    )
    .requiredOption('--url <url>', 'URL of the server, e.g. http://127.0.0.1:3000', parseOrigin)
    .option('--rate <x>', 'speed relative to the recording', parseRate, 1)
    .option(
      '--rps <n>',
      'send at this rate, in requests per second, instead of the recorded times',
      parseRate,
    )
    .option('--connections <n>', 'maximum number of sockets', parseCount, 256)
    .option('--rows <n>', 'number of routes to print', parseCount, 15)
    .option(
      '--group <pattern>',
      'treat paths of this pattern as one route, e.g. /users/:name; repeatable',
      (pattern: string, before: string[]) => [...before, pattern],
      [],
    )
    .option('--json <file>', 'write the figures to this file')
    .option('--html <file>', 'write the report to this file')
    .addOption(
      new Option('--out <folder>', 'output folder for files without an explicit name').default(
        'redline-out',
      ),
    )
    .addHelpText('after', helpText)
    .action((file: string, options: ReplayOptions) => run(file, options, context));
}

async function run(
  file: string,
  options: ReplayOptions,
  { version, signal }: CommandContext,
): Promise<void> {
  const startedAt = new Date().toISOString();
  const patterns = new RoutePatterns(options.group);
  using line = new PhaseLine('replay');
  line.show('reading the log');
  const list = await readReplayList(file, signal);
  const atMs = scheduleOf(list, options, file);
  line.show(`sending ${fixed(atMs.length)} requests, ${fixed(atMs.at(-1)! / 1_000)} s`);
  const outcome = await runReplay(
    { origin: options.url, requests: list.requests, atMs, connections: options.connections },
    signal,
  );
  if (outcome.answers.length === 0) {
    throw new LabError('ERR_REDLINE_LOAD', `${options.url} did not respond to any request.`);
  }
  const runId = randomBytes(3).toString('hex');
  const costs = new RouteCosts(patterns);
  for (const [index, status, durationMs] of outcome.answers) {
    costs.add({ ...list.requests[index]!, status, durationMs });
  }
  const how =
    options.rps === undefined ? `${options.rate} × as recorded` : `${options.rps} requests/s`;
  const result: TopResult = {
    schema: 1,
    command: 'replay',
    title: `${file === '-' ? 'standard input' : basename(file)} against ${options.url}, ${how}`,
    files: [file],
    invocation: invocation(),
    runId,
    redlineVersion: version,
    startedAt,
    counts: {
      lines: atMs.length,
      requests: outcome.answers.length,
      other: 0,
      unreadable: 0,
      unreadableSamples: [],
    },
    ...costs.summarise(),
    spanSeconds: outcome.seconds,
    warnings: [...list.warnings, ...faultsOf(outcome)],
  };
  line[Symbol.dispose]();
  await writeFiles(
    { stem: `replay-${runId}`, json: result, html: renderTopHtml(result) },
    options,
    (terminal) => renderTopTerminal(result, { ...terminal, rows: options.rows }),
  );
}

function scheduleOf(list: ReplayList, { rate, rps }: ReplayOptions, file: string): number[] {
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

function parseOrigin(text: string): string {
  try {
    const { origin, protocol } = new URL(text);
    if (protocol === 'http:' || protocol === 'https:') return origin;
  } catch {
    // The sentence below says what it takes.
  }
  throw new InvalidArgumentError('It takes a url such as http://127.0.0.1:3000.');
}

function parseRate(text: string): number {
  const rate = Number(text);
  if (Number.isFinite(rate) && rate > 0) return rate;
  throw new InvalidArgumentError('It takes a number above 0.');
}

const helpText = `
Examples:
  redline replay access.log --url http://127.0.0.1:3000 --rate 2
  redline bench --replay access.log               the same list as the load of a comparison
  redline flame --replay access.log               and of a profile
  redline stairs --replay access.log              and of the stages its requests share

Exit status: 0 replayed, 1 the log or the server failed, 2 wrong input, 130 interrupted.`;
