import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Command } from 'commander';
import { loadCommands } from './commands.ts';
import { suggestCommands } from './suggest/suggest-commands.ts';
import { exitCodeOf, LabError } from './errors.ts';
import { readProject } from './project/read-project.ts';
import { maskSecrets } from './secrets.ts';
import { killAllServers } from './servers/server.ts';

const { version } = createRequire(import.meta.url)('../package.json') as { version: string };

const interrupt = new AbortController();
let interruptedBy: NodeJS.Signals | undefined;
let interruptedAt = 0;

const helpText = `
Where to begin:
  redline try -- COMMAND             what redline gains for an app, without changing it
  redline doctor -- COMMAND          what costs time in it, and the change as a diff
  redline top access.log             which routes take the time
  redline stairs URL -- COMMAND      what each stage of its request costs
  redline flame, redline deopts      what V8 does in them
  redline heap URL -- COMMAND        what stays in memory, and the line that keeps it
  redline advise, redline prove      which lines would gain, by how much
  redline bench                      whether a change gained
  redline ci                         the same for every pull request

ladder, bench, flame, deopts, heap and runtimes read a redline.config.ts; the others do not need one.`;

/**
 * One Ctrl-C reaches this process several times: from the terminal, and from npm and other programs above, which pass it on. Within
 * this time it is the same one.
 */
const sameSignalMs = 1_000;

/** The first signal ends the run in order; a second one kills the servers and exits at once. */
function onSignal(signal: NodeJS.Signals): void {
  if (interruptedBy !== undefined) {
    if (performance.now() - interruptedAt < sameSignalMs) return;
    killAllServers();
    process.exit(exitCodeOfSignal(signal));
  }
  interruptedBy = signal;
  interruptedAt = performance.now();
  interrupt.abort(new Error(`interrupted by ${signal}`));
}

function exitCodeOfSignal(signal: NodeJS.Signals): number {
  return signal === 'SIGINT' ? 130 : signal === 'SIGTERM' ? 143 : 129;
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
process.on('exit', killAllServers);

/** Without arguments: suggests commands inside a project. Returns false elsewhere, where the help is printed. */
function printSuggestions(): boolean {
  const project = process.argv.length === 2 ? readProject(process.cwd()) : undefined;
  if (project === undefined) return false;
  const logs = readdirSync('.').filter((name) => /access.*\.log$/.test(name));
  process.stdout.write(suggestCommands(project, logs));
  return true;
}

function endInterrupted(signal: NodeJS.Signals): never {
  process.stderr.write('Stopped; nothing is left running.\n');
  process.exit(exitCodeOfSignal(signal));
}

/** Also handles errors thrown outside any awaited call. Hides the stack, which a user cannot act on. */
function endUnexpectedly(error: unknown): never {
  if (interruptedBy !== undefined) endInterrupted(interruptedBy);
  // The reader closed the pipe: `redline top access.log | head`.
  if ((error as NodeJS.ErrnoException | undefined)?.code === 'EPIPE') process.exit(1);
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  const trace = process.env['REDLINE_STACK'] === undefined ? '' : `${stack}\n`;
  process.stderr.write(
    `redline: ${maskSecrets(message.split('\n')[0]!)}. This is a fault of redline: please report it, with what REDLINE_STACK=1 adds. (ERR_REDLINE_UNEXPECTED)\n${trace}`,
  );
  process.exit(1);
}

process.on('uncaughtException', endUnexpectedly);

const program = new Command('redline')
  .description('Compares server variants and shows where the requests per second go.')
  .version(version)
  .showHelpAfterError('Run it with --help to see its options.')
  .addHelpText('after', helpText)
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2));
// Arguments may hold a token, and every user can list processes. The reports keep their own, masked copy.
program.hook('preAction', (_, asked) => void (process.title = `redline ${asked.name()}`));
const context = { version, signal: interrupt.signal };
await loadCommands(program, context, process.argv[2]);

try {
  if (!printSuggestions()) await program.parseAsync();
} catch (error) {
  if (interruptedBy !== undefined) endInterrupted(interruptedBy);
  if (!(error instanceof LabError)) endUnexpectedly(error);
  // The code ends the first line, because the last lines of a server may follow it.
  process.stderr.write(`redline: ${error.message.replace(/\n|$/, ` (${error.code})$&`)}\n`);
  process.exit(exitCodeOf(error));
}
