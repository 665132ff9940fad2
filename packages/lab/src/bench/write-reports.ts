import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, format, join, parse } from 'node:path';
import { shownPath, type ReportOptions } from '../command/write-files.ts';
import { benchMarkdown } from './report/bench-markdown.ts';
import { renderHtml } from './report/html.ts';
import { renderTerminal } from './report/terminal.ts';
import { usesColour, usesUnicode } from '../report/colour.ts';
import { splitGroups } from './groups.ts';
import type { BenchResult } from './result.ts';

/** Writes the files, then prints the terminal report, whose last lines name them. Groups get a report each. */
export async function writeReports(result: BenchResult, options: ReportOptions): Promise<void> {
  const stem = join(options.out, `${result.scenario}-${result.runId}`);
  const json = options.json ?? `${stem}.json`;
  const html = options.html ?? `${stem}.html`;
  await write(json, formatJson(result));
  if (options.md !== undefined) {
    await write(options.md, splitGroups(result).map(benchMarkdown).join('\n'));
  }
  for (const [index, part] of splitGroups(result).entries()) {
    const group = result.groups?.[index]?.name;
    const page = group === undefined ? html : inName(html, group);
    await write(page, renderHtml(part));
    process.stdout.write(
      renderTerminal(part, {
        ...(process.stdout.columns && { width: process.stdout.columns }),
        colour: usesColour(process.stdout),
        unicode: usesUnicode(),
        files: { json: shownPath(json), html: shownPath(page) },
      }),
    );
  }
}

function inName(file: string, group: string): string {
  const { dir, name, ext } = parse(file);
  return format({ dir, name: `${name}-${group}`, ext });
}

async function write(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}

/** Indented for people, but one line a slice: there are hundreds. */
function formatJson({ slices, ...result }: BenchResult): string {
  const head = JSON.stringify(result, undefined, 2).slice(0, -2);
  const lines = slices.map((slice) => `    ${JSON.stringify(slice)}`).join(',\n');
  return `${head},\n  "slices": [\n${lines}\n  ]\n}\n`;
}
