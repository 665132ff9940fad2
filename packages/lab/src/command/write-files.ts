import { type Command, Option } from 'commander';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
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
    .option('--md <file>', 'write the report in Markdown to this file')
    .option('--json <file>', 'write the figures to this file')
    .option('--html <file>', 'write the report to this file')
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
}

/** Writes JSON, HTML and, where it is asked for, Markdown; then prints the terminal report, whose last lines name them. */
export async function writeFiles(
  { stem, json, html, md }: Reports,
  options: ReportOptions,
  render: (terminal: TerminalOptions) => string,
): Promise<void> {
  const jsonFile = options.json ?? join(options.out, `${stem}.json`);
  const htmlFile = options.html ?? join(options.out, `${stem}.html`);
  await write(
    jsonFile,
    typeof json === 'string' ? json : `${JSON.stringify(json, undefined, 2)}\n`,
  );
  await write(htmlFile, html);
  if (options.md !== undefined) await write(options.md, md());
  process.stdout.write(
    render({
      ...(process.stdout.columns && { width: process.stdout.columns }),
      colour: usesColour(process.stdout),
      unicode: usesUnicode(),
      files: { json: shownPath(jsonFile), html: shownPath(htmlFile) },
    }),
  );
}

/** Relative if it lies below, otherwise in full: a row of dots is hard to copy. */
export function shownPath(file: string): string {
  const fromHere = relative('.', file);
  return fromHere.startsWith('..') ? resolve(file) : fromHere;
}

async function write(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}
