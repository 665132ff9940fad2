import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Command } from 'commander';
import { addAdviseCommand } from './advise/command.ts';
import { addBenchCommand } from './bench/command.ts';
import { whereToBegin } from './begin/where-to-begin.ts';
import { addCiCommand } from './ci/command.ts';
import { addDeoptsCommand } from './deopts/command.ts';
import { addDoctorCommand } from './doctor/command.ts';
import { addFlameCommand } from './flame/command.ts';
import { addProveCommand } from './prove/command.ts';
import { addReplayCommand } from './access-log/replay-command.ts';
import { addRuntimesCommand } from './runtimes/command.ts';
import { addStairsCommand } from './stairs/command.ts';
import { addTopCommand } from './access-log/top-command.ts';
import { addTryCommand } from './try/command.ts';
import { exitCodeOf, LabError } from './errors.ts';
import { readProject } from './project/read-project.ts';
import { maskSecrets } from './secrets.ts';
import { killAllServers } from './servers/server.ts';

const { version } = createRequire(import.meta.url)('../package.json') as { version: string };

const interrupt = new AbortController();
let interruptedBy: NodeJS.Signals | undefined;

const helpText = `
Where to begin:
  redline try -- COMMAND             what redline gains for an app, without changing it
  redline doctor -- COMMAND          what costs time in it, and the change as a diff
  redline top access.log             which routes take the time
  redline stairs URL -- COMMAND      what each stage of its request costs
  redline flame, redline deopts      what V8 does in them
  redline advise, redline prove      which lines would gain, by how much
  redline bench                      whether a change gained
  redline ci                         the same for every pull request

ladder, bench, flame, deopts and runtimes read a redline.config.ts; the others do not need one.`;

/** The first signal ends the run in order; a second one, at once. */
function onSignal(signal: NodeJS.Signals): void {
  if (interruptedBy !== undefined) {
    killAllServers();
    process.exit(exitCodeOfSignal(signal));
  }
  interruptedBy = signal;
  interrupt.abort(new Error(`interrupted by ${signal}`));
}

function exitCodeOfSignal(signal: NodeJS.Signals): number {
  return signal === 'SIGINT' ? 130 : signal === 'SIGTERM' ? 143 : 129;
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
process.on('exit', killAllServers);

/** Without a word, and in a project: what to type there. Elsewhere the help says what there is. */
function beginsHere(): boolean {
  const project = process.argv.length === 2 ? readProject(process.cwd()) : undefined;
  if (project === undefined) return false;
  const logs = readdirSync('.').filter((name) => /access.*\.log$/.test(name));
  process.stdout.write(whereToBegin(project, logs));
  return true;
}

function endInterrupted(signal: NodeJS.Signals): never {
  process.stderr.write('Stopped; nothing is left running.\n');
  process.exit(exitCodeOfSignal(signal));
}

/** Also for what is thrown where nothing waits for it: no stack is what a person can act on. */
function endUnexpectedly(error: unknown): never {
  if (interruptedBy !== undefined) endInterrupted(interruptedBy);
  // Nobody reads on: `redline top access.log | head`.
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
// What was typed may hold a token, and everybody can list processes. The reports have their own copy, without.
program.hook('preAction', (_, asked) => void (process.title = `redline ${asked.name()}`));
const context = { version, signal: interrupt.signal };
addTryCommand(program, context);
addDoctorCommand(program, context);
addBenchCommand(program, 'ladder', context);
addBenchCommand(program, 'bench', context);
addCiCommand(program, context);
addStairsCommand(program, context);
addFlameCommand(program, context);
addDeoptsCommand(program, context);
addTopCommand(program, context);
addReplayCommand(program, context);
addRuntimesCommand(program, context);
addProveCommand(program, context);
addAdviseCommand(program, context);

try {
  if (!beginsHere()) await program.parseAsync();
} catch (error) {
  if (interruptedBy !== undefined) endInterrupted(interruptedBy);
  if (!(error instanceof LabError)) endUnexpectedly(error);
  // At the end of the first line: the last lines of a server may follow.
  process.stderr.write(`redline: ${error.message.replace(/\n|$/, ` (${error.code})$&`)}\n`);
  process.exit(exitCodeOf(error));
}
