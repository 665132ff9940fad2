import { type Command, Option } from 'commander';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { LabError } from '../errors.ts';
import { usesColour, usesUnicode } from '../report/colour.ts';
import type { TerminalOptions } from '../report/terminal-options.ts';

export interface ReportOptions {
  json?: string;
  html?: string;
  /** Markdown, for a pull request or an agent. */
  md?: string;
  out: string;
}

/** Where the report goes: the same words in every command that writes one. */
export function addReports(command: Command): Command {
  return command
    .option('--md <file>', 'write the report in Markdown to this file; - is standard output')
    .option('--json <file>', 'write the figures to this file; - is standard output')
    .option('--html <file>', 'write the report to this file; - is standard output')
    .addOption(
      new Option('--out <folder>', 'output folder for files without an explicit name').default(
        'redline-out',
      ),
    );
}

interface Reports {
  stem: string;
  /** As given when it is a text. */
  json: object | string;
  html: string;
  md: () => string;
  /** In the folder of --out; the terminal report names it as `profile`. */
  profile?: { name: string; text: string };
}

/**
 * Writes JSON, HTML and, where it is asked for, Markdown, and prints the terminal report, whose last lines name them.
 * @throws {LabError} ERR_REDLINE_WRITE after the report is printed, when a file could not be written
 */
export async function writeFiles(
  { stem, json, html, md, profile }: Reports,
  options: ReportOptions,
  render: (terminal: TerminalOptions & { profile?: string }) => string,
): Promise<void> {
  const files = new ReportFiles();
  const text = typeof json === 'string' ? json : `${JSON.stringify(json, undefined, 2)}\n`;
  const jsonFile = await files.write(options.json ?? join(options.out, `${stem}.json`), text);
  const htmlFile = await files.write(options.html ?? join(options.out, `${stem}.html`), html);
  if (options.md !== undefined) await files.write(options.md, md());
  const profileFile = profile && (await files.write(join(options.out, profile.name), profile.text));
  const names = { ...jsonFile('json'), ...htmlFile('html') };
  files.print((terminal) => render({ ...terminal, files: names, ...profileFile?.('profile') }));
  files.finish();
}

/** The files of one run. Those that cannot be written must not take what was measured with them. */
export class ReportFiles {
  readonly #failures: { file: string; cause: unknown }[] = [];
  #usesStdout = false;

  /** @returns the file under a name, for a list of what was written; nothing if it was not */
  async write(
    file: string,
    text: string,
  ): Promise<<Name extends string>(name: Name) => { [name in Name]?: string }> {
    if (file === '-') {
      this.#usesStdout = true;
      process.stdout.write(text);
      return () => ({});
    }
    try {
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
    } catch (cause) {
      this.#failures.push({ file, cause });
      return () => ({});
    }
    return (name) => ({ [name]: shownPath(file) }) as never;
  }

  /** Prints the terminal report; beside a file that is standard output, on standard error. */
  print(render: (terminal: Omit<TerminalOptions, 'files'>) => string): void {
    const stream = this.#usesStdout ? process.stderr : process.stdout;
    stream.write(
      render({
        ...(stream.columns && { width: stream.columns }),
        colour: usesColour(stream),
        unicode: usesUnicode(),
      }),
    );
  }

  /** @throws {LabError} ERR_REDLINE_WRITE when a file could not be written */
  finish(): void {
    const [first] = this.#failures;
    if (first === undefined) return;
    const { message } = first.cause as Error;
    const names = this.#failures.map(({ file }) => shownPath(file)).join(', ');
    throw new LabError(
      'ERR_REDLINE_WRITE',
      `Not written: ${names}: ${message}. The report above is complete; --out names a folder that can be written.`,
      { cause: first.cause },
    );
  }
}

/** Relative if it lies below, otherwise in full: a row of dots is hard to copy. */
export function shownPath(file: string): string {
  const fromHere = relative('.', file);
  return fromHere.startsWith('..') ? resolve(file) : fromHere;
}
