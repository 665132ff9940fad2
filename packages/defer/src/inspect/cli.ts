import { parseArgs } from 'node:util';
import { DeferError } from '../errors.ts';
import { runInspect, type InspectOptions } from './inspect.ts';

const help = `Usage: npx @redline/defer inspect DIRECTORY [what] [which]

Inspect a journal directory, also while the app runs. DIRECTORY is the option journal.directory of createDefer.

What to do:
  (nothing)            list the journals and their jobs
  --export             write the jobs to standard output, one JSON object per line
  --requeue            let the app run jobs again: dead ones, or those of --state and --id
  --serve              serve journals and dead letters as a page, on loopback only
  --remove             delete dead letters: those of --id, --job or --sink, or all with --all

Which jobs:
  --state STATE        waiting, delayed, sent (the sink has them; kept for its replay window) or dead
  --id ID              one job; repeatable
  --job NAME           jobs of one name
  --sink NAME          jobs of one sink
  --limit N            at most N lines of the list (default 50; 0 for all)
  --all                with --remove: delete all of them
  --seal FILE          opens a sealed journal: a module that exports journal.seal by default
  --json               the list as one JSON object
  --port N             with --serve (default 0: a free one)

Exit status: 0 done, 1 something could not be read or done, 2 wrong usage.
`;

// `… | head`: the reader closed the pipe.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

try {
  process.exitCode = await main();
} catch (error) {
  const isOurs = error instanceof DeferError;
  const code = isOurs ? `${error.code}: ` : '';
  process.stderr.write(`${code}${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = isWrongCall(error) ? 2 : 1;
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h' },
      export: { type: 'boolean' },
      requeue: { type: 'boolean' },
      remove: { type: 'boolean' },
      serve: { type: 'boolean' },
      seal: { type: 'string' },
      port: { type: 'string' },
      all: { type: 'boolean' },
      json: { type: 'boolean' },
      state: { type: 'string' },
      id: { type: 'string', multiple: true },
      job: { type: 'string' },
      sink: { type: 'string' },
      limit: { type: 'string' },
    },
  });
  const [command, directory] = positionals;
  if (values.help === true || (command === undefined && positionals.length === 0)) {
    process.stdout.write(help);
    return values.help === true ? 0 : 2;
  }
  if (command !== 'inspect' || directory === undefined || positionals.length > 2) {
    process.stderr.write(
      command === 'inspect'
        ? 'Exactly one DIRECTORY is needed: npx @redline/defer inspect DIRECTORY\n'
        : `Unknown command "${command}"; the only one is inspect. See --help.\n`,
    );
    return 2;
  }
  const write = (text: string): void => void process.stdout.write(text);
  return runInspect(directory, values as InspectOptions, write);
}

function isWrongCall(error: unknown): boolean {
  const code = (error as { code?: unknown } | undefined)?.code;
  return (
    typeof code === 'string' &&
    (code.startsWith('ERR_PARSE_ARGS') || code === 'ERR_REDLINE_DEFER_OPTION')
  );
}
