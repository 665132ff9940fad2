import { type Command, Option } from 'commander';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import type { Document } from '../document/document.ts';
import { renderMarkdown } from '../document/markdown.ts';
import { renderPageOf } from '../document/page.ts';
import { renderTerminal } from '../document/terminal.ts';
import { LabError } from '../errors.ts';
import { formatResult } from './format-result.ts';
import { usesColour, usesUnicode } from '../report/colour.ts';
import type { TerminalOptions } from '../report/terminal-options.ts';

export interface ReportOptions {
  json?: string;
  html?: string;
  /** Markdown, for a pull request or an agent. */
  md?: string;
  out: string;
}

/** Returns the stream for the terminal report: standard error if a report file goes to standard output. */
export function reportStream({ json, html, md }: Partial<ReportOptions>): NodeJS.WriteStream {
  return [json, html, md].includes('-') ? process.stderr : process.stdout;
}

/** Rejects two files on standard output, which would be mixed. */
function refuseTwoInOne({ json, html, md }: Partial<ReportOptions>): void {
  const given = Object.entries({ json, html, md }).filter(([, file]) => file === '-');
  if (given.length < 2) return;
  const names = given.map(([name]) => `--${name} -`).join(' and ');
  throw new LabError(
    'ERR_REDLINE_OPTION',
    `${names} both write to standard output: name a file for one of them.`,
  );
}

/** Adds the output options, with the same words in every command that writes a report. */
export function addReports(command: Command): Command {
  return command
    .hook('preAction', () => refuseTwoInOne(command.opts<ReportOptions>()))
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
  json: object;
  document: Document;
  /** Written to the folder of --out; the terminal report names it as `profile`. */
  profile?: { name: string; text: string };
}

/**
 * Writes JSON, page and, if requested, Markdown, and prints the terminal report, whose last lines name them.
 * @throws {LabError} ERR_REDLINE_WRITE after the report is printed, when a file could not be written
 */
export async function writeDocument(
  { stem, json, document, profile }: Reports,
  options: ReportOptions,
): Promise<void> {
  const { out } = options;
  const files = new ReportFiles();
  const data = await files.write(options.json ?? join(out, `${stem}.json`), formatResult(json));
  const page = await files.write(options.html ?? join(out, `${stem}.html`), renderPageOf(document));
  if (options.md !== undefined) await files.write(options.md, renderMarkdown(document));
  const profiled = profile && (await files.write(join(out, profile.name), profile.text));
  const shown = { ...document, files: { ...document.files, ...profiled?.('profile') } };
  files.print((terminal) =>
    renderTerminal(shown, { ...terminal, files: { ...data('json'), ...page('html') } }),
  );
  files.finish();
}

/** The files of one run. A file that cannot be written must not cost the measurements. */
export class ReportFiles {
  readonly #failures: { file: string; cause: unknown }[] = [];
  #usesStdout = false;

  /** @returns the file under a name, for a list of the files written; nothing if it was not written */
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

  /** Prints the terminal report, on standard error if a file goes to standard output. */
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

/** Returns a relative path if the file lies below, otherwise the full one: a row of dots is hard to copy. */
export function shownPath(file: string): string {
  const fromHere = relative('.', file);
  return fromHere.startsWith('..') ? resolve(file) : fromHere;
}
