import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { usesColour, usesUnicode } from '../report/colour.ts';
import type { TerminalOptions } from '../report/terminal.ts';
import type { ReportOptions } from './write-reports.ts';

export type { ReportOptions } from './write-reports.ts';

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
      files: { json: relative('.', jsonFile), html: relative('.', htmlFile) },
    }),
  );
}

async function write(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}
