import { format, join, parse } from 'node:path';
import { formatResult } from '../command/format-result.ts';
import { ReportFiles, type ReportOptions } from '../command/write-files.ts';
import { renderMarkdown } from '../document/markdown.ts';
import { renderPageOf } from '../document/page.ts';
import { renderTerminal } from '../document/terminal.ts';
import { benchDocument } from './report/bench-document.ts';
import { splitGroups } from './groups.ts';
import type { BenchResult } from './result.ts';

/**
 * Writes the files and prints the terminal report, whose last lines name them. Each group gets its own report.
 * @throws {LabError} ERR_REDLINE_WRITE after the reports are printed, when a file could not be written
 */
export async function writeReports(result: BenchResult, options: ReportOptions): Promise<void> {
  const stem = join(options.out, `${result.scenario}-${result.runId}`);
  const html = options.html ?? `${stem}.html`;
  const files = new ReportFiles();
  const json = await files.write(options.json ?? `${stem}.json`, formatResult(result));
  const parts = splitGroups(result).map(benchDocument);
  if (options.md !== undefined) {
    await files.write(options.md, parts.map(renderMarkdown).join('\n'));
  }
  for (const [index, part] of parts.entries()) {
    const group = result.groups?.[index]?.name;
    const page = await files.write(
      group === undefined || html === '-' ? html : inName(html, group),
      renderPageOf(part),
    );
    files.print((terminal) =>
      renderTerminal(part, { ...terminal, files: { ...json('json'), ...page('html') } }),
    );
  }
  files.finish();
}

function inName(file: string, group: string): string {
  const { dir, name, ext } = parse(file);
  return format({ dir, name: `${name}-${group}`, ext });
}
