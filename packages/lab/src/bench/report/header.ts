import { type BenchResult, isMeasured } from '../result.ts';
import { facts } from './facts.ts';
import type { Figures } from './figures.ts';
import { findings } from './findings.ts';
import { fixed } from '../../report/format.ts';
import { markup, type Markup } from '../../report/markup.ts';
import { trustOf } from './trust.ts';
import { resolutionText } from './resolution.ts';
import { dateOf } from '../../report/words.ts';

/** Renders page one: what was run, what changed and by how much, whether to believe it, and on which machine. */
export function header(result: BenchResult, figures: Figures): Markup {
  return markup`<div class="top"><p class="brand">redline <span>${result.redlineVersion} · ${dateOf(result.startedAt)} · run ${result.runId}</span></p><button type="button" id="theme" hidden>Theme: auto</button></div>
<h1>${result.title}</h1><p class="cmd"><code>${result.invocation}</code></p>
${resolution(result)}${controlFailure(result)}${warnings(result)}${findings(result, figures)}${facts(result)}`;
}

function resolution(result: BenchResult): Markup | undefined {
  const text = resolutionText(result);
  return text === undefined ? undefined : markup`<p class="lead resolves">${text}</p>`;
}

/** Explains in one paragraph why no verdict can be believed; undefined if the interval of the A/A control holds 1. */
export function controlFailureText(
  result: BenchResult,
): { headline: string; text: string } | undefined {
  const { control } = result;
  const trust = trustOf(result);
  if (!isMeasured(control) || (trust.cpu && trust.rps)) return undefined;
  const metric = trust.cpu ? 'requests per second' : 'CPU';
  const ratio = trust.cpu ? control.rpsRatio : control.cpuRatio;
  const reads = `The base, measured a second time under another name, reads ${fixed(ratio.value, 3)} × itself in ${metric} [${fixed(ratio.low, 3)}, ${fixed(ratio.high, 3)}].`;
  const consequence = trust.cpu
    ? 'The verdicts on requests per second are withheld; those on CPU stand.'
    : 'All verdicts are withheld: stop other work on the machine or measure more restarts, then run again.';
  return {
    headline: 'The base differs from itself.',
    text: `${reads} The method finds a difference where there is none. ${consequence}`,
  };
}

/** Explains what is missing if the control did not run. */
export function controlMissingText({ control }: BenchResult): string | undefined {
  if (isMeasured(control)) return undefined;
  return `The A/A control was not measured (${control.skipped.replace(/\.$/, '')}): nothing here shows what the method calls a difference when there is none.`;
}

function controlFailure(result: BenchResult): Markup | undefined {
  const failure = controlFailureText(result);
  if (!failure) return undefined;
  return markup`<p class="void" role="alert"><b>${failure.headline}</b> ${failure.text}</p>`;
}

function warnings(result: BenchResult): Markup | undefined {
  const missing = controlMissingText(result);
  const all = missing === undefined ? result.warnings : [missing, ...result.warnings];
  if (all.length === 0) return undefined;
  return markup`<ul class="find warn" aria-label="Warnings">${all.map((warning) => markup`<li><span>warning</span><span>${warning}</span></li>`)}</ul>`;
}
