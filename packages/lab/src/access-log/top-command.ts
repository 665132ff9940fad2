import type { Command } from 'commander';
import { randomBytes } from 'node:crypto';
import { basename } from 'node:path';
import { readAccessLog } from './read-access-log.ts';
import { RoutePatterns } from './route-pattern.ts';
import { RouteCosts, type TopResult } from './top.ts';
import { logWarnings } from './log-warnings.ts';
import { topDocument } from './top-document.ts';
import type { CommandContext } from '../command/context.ts';
import { parseCount } from '../command/options.ts';
import { addRenamed } from '../command/renamed-options.ts';
import { addReports, type ReportOptions, writeDocument } from '../command/write-files.ts';
import { collect } from '../command/target-options.ts';
import { invocation } from '../secrets.ts';

interface TopOptions extends ReportOptions {
  rows: number;
  group?: string[];
  keepQuery?: true;
  format?: string;
}

export function addTopCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('top')
    .description('rank the routes of an access log by total time')
    .argument(
      '<log...>',
      'access logs of loggers, proxies and load balancers, also .gz; - is standard input',
    )
    .option('--rows <n>', 'number of routes to print', parseCount, 15)
    .option(
      '--group <pattern>',
      'treat paths of this pattern as one route, e.g. /users/:name; repeatable',
      collect,
    )
    .option('--keep-query', 'treat requests with different queries as different routes')
    .option('--format <format>', 'nginx log_format or Apache LogFormat of the log');
  addRenamed(addReports(command), { '--route': 'use --group, which keeps routes together' })
    .addHelpText('after', helpText)
    .action((files: string[], options: TopOptions) => run(files, options, context));
}

async function run(
  files: string[],
  options: TopOptions,
  { version, signal }: CommandContext,
): Promise<void> {
  const costs = new RouteCosts(
    new RoutePatterns(options.group ?? [], { keepQuery: options.keepQuery ?? false }),
  );
  const counts = await readAccessLog(files, (request) => costs.add(request), signal, options);
  const runId = randomBytes(3).toString('hex');
  const names = files.map((file) => (file === '-' ? 'standard input' : basename(file)));
  const result: TopResult = {
    schema: 1,
    command: 'top',
    title: `Routes of ${names.join(', ')}`,
    files,
    invocation: invocation(),
    runId,
    redlineVersion: version,
    startedAt: new Date().toISOString(),
    counts,
    ...costs.summarise(),
    warnings: logWarnings(counts),
  };
  await writeDocument(
    { stem: `top-${runId}`, json: result, document: topDocument(result, options.rows) },
    options,
  );
}

const helpText = `
Examples:
  redline top access.log access.log.1.gz
  kubectl logs my-api | redline top -
  redline top access.log --group /users/:name --group '/static/*'
  redline top access.log --format '$remote_addr [$time_local] "$request" $status $request_time'

Exit status: 0 read, 1 no line describes a request, 2 wrong input.`;
