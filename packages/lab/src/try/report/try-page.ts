import { figuresOf } from '../../bench/report/figures.ts';
import { ladderSection } from '../../bench/report/ladder-table.ts';
import { methodSection } from '../../bench/report/method.ts';
import { commandHeader } from '../../report/command-header.ts';
import { markup } from '../../report/markup.ts';
import { renderPage } from '../../report/page.ts';
import type { Section } from '../../report/section.ts';
import type { TryResult } from '../result.ts';
import { sentenceOf } from '../verdict.ts';
import { circumstances, nextCommand } from './try-rows.ts';

/** Renders the report of `redline try` as one self-contained file: the verdict, then the measurement as `bench` shows it. */
export function renderTryHtml(result: TryResult): string {
  const { bench } = result;
  const { where, checked, what } = circumstances(result);
  const findings = [
    { word: result.word, text: sentenceOf(result) },
    ...(result.requestsFrom === '' ? [] : [{ word: 'requests', text: result.requestsFrom }]),
    { word: 'checked', text: checked },
  ];
  const facts: [string, string][] = [
    ['App', where],
    ['With redline', what],
    ['Load', `${bench.load.generator}, ${bench.load.connections} connections`],
    ['Pinning', bench.machine.pinning],
  ];
  return renderPage({
    title: result.title,
    header: commandHeader({ ...result, warnings: bench.warnings }, findings, facts),
    sections: [...commands(result), ladderSection(bench, figuresOf(bench)), methodSection(bench)],
  });
}

function commands(result: TryResult): Section[] {
  const next = commandSection('next', 'Next', [nextCommand(result)]);
  return result.word === 'gains'
    ? [commandSection('keep', 'To keep it', result.keep), next]
    : [next];
}

function commandSection(id: string, heading: string, lines: readonly string[]): Section {
  return {
    id,
    heading,
    body: markup`<ul>${lines.map((line) => markup`<li><code>${line}</code></li>`)}</ul>`,
  };
}
