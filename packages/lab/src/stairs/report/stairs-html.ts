import type { StairsResult } from '../result.ts';
import { summaryText } from '../../calls-out/report/call-words.ts';
import { callsSections } from '../../calls-out/report/calls-section.ts';
import { commandHeader, type Finding } from '../../report/command-header.ts';
import { fixed, percent, plural, range, seconds } from '../../report/format.ts';
import { markup } from '../../report/markup.ts';
import { renderPage } from '../../report/page.ts';
import { budgetSection } from './stairs-budget.ts';
import { stairsMethod } from './stairs-method.ts';
import { costliest, stairFigures, type StairFigures } from './stairs-rows.ts';
import { stairsSection } from './stairs-section.ts';
import { memorySentence, stairsResolution, whatIfSentence } from './stairs-words.ts';
import { stealText } from '../../report/words.ts';
import { verdictWord } from '../../report/words.ts';
import { defaultMargin } from '../../stats/verdict.ts';

/** Renders the report of `redline stairs` as one self-contained file. */
export function renderStairsHtml(result: StairsResult): string {
  const figures = stairFigures(result);
  return renderPage({
    title: result.title,
    header: commandHeader(
      result,
      findings(result, figures),
      factsOf(result),
      stairsResolution(result),
    ),
    sections: [
      stairsSection(result, figures),
      ...callsSections(result.calls),
      ...(result.budget ? [budgetSection(result.budget)] : []),
      stairsMethod(result),
    ],
  });
}

/** Max number of findings on page one: readers skip longer lists. */
const maxFindings = 3;

function findings(result: StairsResult, figures: StairFigures): Finding[] {
  const found: Finding[] = [];
  const trusted = result.whole.controlVerdict !== 'changed';
  const top = costliest(figures);
  if (top && trusted) {
    found.push({
      word: verdictWord('base', 'most expensive'),
      text: markup`<b>${top.stage.name}</b>: ${top.micros} µs ${top.range} of ${figures.whole.micros} (${percent(top.stage.share)}). Without it the request would cost ${fixed(result.whole.micros.value - top.stage.micros.value, 1)} µs.`,
    });
  }
  const own = figures.rows
    .slice(1)
    .filter(({ stage, reading }) => reading === 'changed' && stage !== top?.stage)
    .toSorted((a, b) => b.stage.micros.value - a.stage.micros.value)
    .slice(0, maxFindings);
  if (own.length > 0 && trusted) {
    const text = own.map(
      ({ stage, micros }) => `${stage.name} ${micros} µs (${percent(stage.share)})`,
    );
    found.push({ word: verdictWord('base', 'then'), text: `${text.join(', ')}.` });
  }
  const free = figures.rows
    .filter(({ reading }) => reading === 'same')
    .map(({ stage }) => stage.name);
  if (free.length > 0) {
    found.push({
      word: verdictWord('same'),
      text: `No cost, within ±\u00a0${percent(defaultMargin)} of the request: ${free.join(', ')}.`,
    });
  }
  const open = figures.rows
    .filter(({ reading }) => reading === 'unresolved')
    .map(({ stage }) => stage.name);
  if (open.length > 0) {
    found.push({
      word: verdictWord('unresolved'),
      text: `${open.join(', ')}: more --seconds would settle it.`,
    });
  }
  if (result.calls)
    found.push({ word: verdictWord('base', 'waits'), text: summaryText(result.calls) });
  const memory = memorySentence(result);
  if (memory !== undefined) found.push({ word: verdictWord('base', 'memory'), text: memory });
  if (result.whatIf)
    found.push({ word: verdictWord('base', 'what if'), text: whatIfSentence(result.whatIf) });
  return found;
}

function factsOf(result: StairsResult): [string, string][] {
  const { machine, app, load, precision, whole } = result;
  return [
    [
      'Machine',
      `${machine.cpuModel}, ${plural(machine.cores, 'core')}, ${fixed(machine.memoryGiB)} GiB`,
    ],
    ['Virtualisation, steal', `${machine.virtualisation}; ${stealText(machine.steal)}`],
    ['Kernel, governor', `${machine.kernel}; governor ${machine.governor}`],
    ['App', `${app.command.join(' ')}; Node.js ${app.node.replace(/^v/, '')}`],
    ['Frameworks', app.frameworks.length === 0 ? 'none seen' : app.frameworks.join(', ')],
    [
      'Load',
      `${load.request}, ${plural(load.connections, 'connection')}, closed loop, ${load.generator}`,
    ],
    ['Pinning', machine.pinning],
    [
      'Rounds',
      `${plural(precision.restarts, 'restart')} × ${plural(precision.rounds, 'round')}, in all ${seconds(result.durationSeconds)}`,
    ],
    [
      'Slices',
      `${fixed(precision.guardMs + precision.countedMs)} ms, of which the last ${fixed(precision.countedMs)} count`,
    ],
    [
      'A/A noise',
      `whole against itself ${fixed(whole.control.value, 2)} µs ${range(whole.control, 2)}`,
    ],
  ];
}
