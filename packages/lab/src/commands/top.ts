import { Option, type Command } from 'commander';
import { randomBytes } from 'node:crypto';
import { basename } from 'node:path';
import { readAccessLog } from '../access-log/read-access-log.ts';
import { RoutePatterns } from '../access-log/route-pattern.ts';
import { RouteCosts, type TopResult } from '../access-log/top.ts';
import { renderTopHtml, renderTopTerminal } from '../access-log/top-report.ts';
import type { CommandContext } from './bench.ts';
import { parseCount } from './options.ts';
import { type ReportOptions, writeFiles } from './write-files.ts';
import { invocation } from '../secrets.ts';

interface TopOptions extends ReportOptions {
  rows: number;
  group: string[];
  keepQuery?: true;
}

export function addTopCommand(program: Command, context: CommandContext): void {
  program
    .command('top')
    .description('which routes of an access log take the most time together')
    .argument(
      '<log...>',
      'access logs of pino, winston, Nest, morgan, Caddy, nginx or Apache, also .gz; - is standard input',
    )
    .option('--rows <n>', 'routes to print', parseCount, 15)
    .option(
      '--group <pattern>',
      'a route to keep together, e.g. /users/:name; may be given again',
      (pattern: string, before: string[]) => [...before, pattern],
      [],
    )
    .option('--keep-query', 'tell requests apart by their query too')
    .option('--json <file>', 'where to write the figures')
    .option('--html <file>', 'where to write the report')
    .addOption(
      new Option('--out <folder>', 'where files go that are not named').default('redline-out'),
    )
    .addHelpText('after', helpText)
    .action((files: string[], options: TopOptions) => run(files, options, context));
}

async function run(
  files: string[],
  options: TopOptions,
  { version, signal }: CommandContext,
): Promise<void> {
  const costs = new RouteCosts(
    new RoutePatterns(options.group, { keepQuery: options.keepQuery ?? false }),
  );
  const counts = await readAccessLog(files, (request) => costs.add(request), signal);
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
    warnings:
      counts.unreadable > 0
        ? [
            `${counts.unreadable} of ${counts.lines} lines could not be read. The first: ${counts.unreadableSamples[0]}`,
          ]
        : [],
  };
  await writeFiles(
    { stem: `top-${runId}`, json: result, html: renderTopHtml(result) },
    options,
    (terminal) => renderTopTerminal(result, { ...terminal, rows: options.rows }),
  );
}

const helpText = `
Examples:
  redline top access.log access.log.1.gz
  kubectl logs my-api | redline top -
  redline top access.log --group /users/:name --group '/static/*'

Exit status: 0 read, 1 not one line tells of a request, 2 wrong input.`;
