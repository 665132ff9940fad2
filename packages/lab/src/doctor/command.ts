import { type Command } from 'commander';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import type { CommandContext } from '../command/context.ts';
import { splitAtDashes } from '../command/dashes.ts';
import { addReports, type ReportOptions, writeFiles } from '../command/write-files.ts';
import { LabError } from '../errors.ts';
import { invocation, withoutSecrets } from '../secrets.ts';
import { readApp } from './app/read-app.ts';
import { examine } from './examine.ts';
import { doctorMarkdown } from './report/doctor-markdown.ts';
import { renderDoctorHtml } from './report/doctor-page.ts';
import { renderDoctorTerminal } from './report/doctor-terminal.ts';
import type { DoctorResult } from './result.ts';
import { parseCommand } from '../config/command-line.ts';

interface DoctorOptions extends ReportOptions {
  cwd?: string;
}

export function addDoctorCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('doctor')
    .description('find what costs time in an app')
    .argument('[command...]', 'after --: the command that starts the app')
    .option('--cwd <folder>', 'folder of the app, e.g. of a workspace (default: the current one)');
  addReports(command)
    .addHelpText('after', helpText)
    .action((_words: string[], options: DoctorOptions, own: Command) =>
      run(own.args, options, context),
    );
}

async function run(
  words: readonly string[],
  options: DoctorOptions,
  context: CommandContext,
): Promise<void> {
  const startedAt = new Date();
  const { after } = splitAtDashes(words);
  const folder = resolve(options.cwd ?? '.');
  if (!existsSync(folder)) {
    throw new LabError('ERR_REDLINE_OPTION', `--cwd "${options.cwd}" does not exist.`);
  }
  const typed = after === undefined ? undefined : parseCommand(after);
  const app = readApp(folder, typed);
  const examined = examine(app);
  const result: DoctorResult = withoutSecrets({
    schema: 1,
    command: 'doctor',
    title: typed?.command.join(' ') ?? app.project?.name ?? folder,
    invocation: invocation(),
    runId: randomBytes(3).toString('hex'),
    redlineVersion: context.version,
    startedAt: startedAt.toISOString(),
    durationSeconds: (Date.now() - startedAt.getTime()) / 1_000,
    app: {
      ...(app.project?.framework === undefined ? {} : { framework: app.project.framework }),
      files: app.sources.length,
      ...(app.entry === undefined ? {} : { entry: relative(app.folder, app.entry.path) }),
    },
    findings: examined.map(({ finding }) => finding),
    warnings: [],
  });
  await writeFiles(
    {
      stem: `doctor-${result.runId}`,
      json: result,
      html: renderDoctorHtml(result),
      md: () => doctorMarkdown(result),
    },
    options,
    (terminal) => renderDoctorTerminal(result, terminal),
  );
}

const helpText = `
Examples:
  redline doctor                       the code that npm start runs
  redline doctor -- node dist/main.js
  redline doctor --md findings.md      for a pull request or an agent

It reads package.json, the code that the command runs, Dockerfile and .nvmrc; it changes nothing.

Exit status: 0 looked, 2 wrong input.`;
