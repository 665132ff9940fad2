import type { Command } from 'commander';
import { parseCount } from './options.ts';

/** Adds the target, `URL -- COMMAND` or a config, and the request options. */
export function addTarget(
  command: Command,
  url = 'URL of the app that the command starts',
): Command {
  return addHeaders(
    command
      .argument('[target]', `${url}, or a config`, '.')
      .argument('[command...]', 'after --: the command that starts the app, for a URL')
      .option('--request <path>', 'send only this request'),
  )
    .option('-X, --method <name>', 'method of the request')
    .option('--body <text>', 'body of the request')
    .option('--connections <n>', 'number of connections kept busy', parseCount)
    .option('--replay <log>', 'use the requests of this access log instead')
    .option('--route <pattern>', 'with --replay: use only the requests of this route');
}

export function addHeaders(command: Command): Command {
  return command.option(
    '-H, --header <line>',
    'add a header, e.g. "authorization: Bearer …"; repeatable',
    collect,
  );
}

/** Adds the option of the commands that show what a request calls. */
export function addDatabase(command: Command): Command {
  return command.option(
    '--database <url>',
    'ask this database for the plans of the slowest queries: EXPLAIN, which runs none of them',
  );
}

export function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}

/**
 * Splits the words at the first `--`. Commander returns both sides in one list, and a command such as `try` needs nothing before
 * it.
 * @param typed The whole command line.
 */
export function splitAtDashes(
  words: readonly string[],
  typed: readonly string[] = process.argv.slice(2),
): { before: string[]; after: string[] | undefined } {
  const at = typed.indexOf('--');
  if (at < 0) return { before: [...words], after: undefined };
  const count = typed.length - at - 1;
  const border = words.length - count;
  return { before: words.slice(0, border), after: words.slice(border) };
}
