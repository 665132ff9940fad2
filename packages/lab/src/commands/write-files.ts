import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { usesColour, usesUnicode } from '../report/colour.ts';
import type { TerminalOptions } from '../report/terminal.ts';

export interface ReportOptions {
  json?: string;
  html?: string;
  /** Markdown, for a pull request. */
  md?: string;
  out: string;
}

/** Writes JSON (as given when it is a text) and HTML, then prints the terminal report, whose last lines name them. */
export async function writeFiles(
  { stem, json, html }: { stem: string; json: object | string; html: string },
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
  process.stdout.write(
    render({
      ...(process.stdout.columns && { width: Math.min(120, process.stdout.columns) }),
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
