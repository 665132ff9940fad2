import { type Command, Option } from 'commander';
import { addTrees, compareTrees, type TreesOptions } from '../bench/compare-trees.ts';
import type { CommandContext } from '../command/context.ts';
import {
  parseCount,
  parseMargin,
  parseNames,
  parseSeconds,
  parseSeed,
} from '../command/options.ts';
import { addTarget } from '../command/target-options.ts';
import { addReports } from '../command/write-files.ts';

const defaultSeconds = 300;
const defaultLimit = 0.03;

/** Adds `redline bench --base` with the defaults that a pull request needs. */
export function addCiCommand(program: Command, context: CommandContext): void {
  const command = addTarget(program.command('ci'))
    .description('compare what is committed with a base revision, and fail if it is slower')
    .addOption(
      new Option('--base <ref>', 'revision to compare with').default(
        defaultBase(),
        'origin/main, or the branch a pull request goes to',
      ),
    )
    .addOption(
      new Option('--fail-if-slower <share>', 'exit with 1 when a request takes this much more CPU')
        .default(defaultLimit, '3%')
        .argParser(parseMargin),
    )
    .addOption(
      new Option('--seconds <n>', 'time to measure for, in seconds, builds excluded')
        .default(defaultSeconds)
        .argParser(parseSeconds),
    )
    .option('--restarts <n>', 'fresh starts of every server, in place of a time', parseCount)
    .option('--blocks <n>', 'measurements of each tree per restart', parseCount)
    .option('--only <name>', 'variant of the config (default: the baseline)', parseNames)
    .option('--margin <share>', 'margin that counts as the same (default: 2%)', parseMargin)
    .option('--seed <n>', 'seed of the order and the resampling, to repeat a run', parseSeed);
  addReports(addTrees(command))
    .addHelpText('after', helpText)
    .action((target: string, words: string[], options: TreesOptions) =>
      compareTrees({ target, command: words, request: options }, options, context),
    );
}

/** Uses the target branch that GitHub names for a pull request. */
function defaultBase(): string {
  const branch = process.env['GITHUB_BASE_REF'];
  return branch ? `origin/${branch}` : 'origin/main';
}

const helpText = `
Examples:
  redline ci http://127.0.0.1:3000/feed -- node dist/main.js
  redline ci redline.config.ts --base v1.4.0 --fail-if-slower 5%
  redline ci --build "npm run build:api" --before "docker compose up -d --wait" --md comment.md

Exit status: 0 not shown to be slower, 1 slower, or a build, a server, a check or the load failed, 2 wrong input,
130 interrupted.`;
