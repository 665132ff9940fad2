import { markup, type Markup } from './markup.ts';
import type { RunFacts } from './run-facts.ts';
import { dateOf } from './words.ts';

export interface CommandFacts extends RunFacts {
  title: string;
  /** The reason to believe no figure; before anything else. */
  alarm?: Markup | undefined;
  warnings: readonly string[];
}

/**
 * Renders the page header of a command that compares nothing: command, warnings, findings and machine.
 * @param resolution Smallest detectable difference, if that was measured.
 */
export function commandHeader(
  { redlineVersion, startedAt, runId, title, invocation, alarm, warnings }: CommandFacts,
  findings: readonly Finding[],
  entries: readonly (readonly [name: string, value: string])[],
  resolution?: string,
): Markup {
  const lead =
    resolution === undefined ? undefined : markup`<p class="lead resolves">${resolution}</p>`;
  return markup`<div class="top"><p class="brand">redline <span>${redlineVersion} · ${dateOf(startedAt)} · run ${runId}</span></p><button type="button" id="theme" hidden>Theme: auto</button></div>
<h1>${title}</h1><p class="cmd"><code>${invocation}</code></p>
${lead}${alarm && markup`<p class="void" role="alert">${alarm}</p>`}${warningList(warnings)}${findingList(findings)}${entries.length > 0 && factList(entries)}`;
}

/** One word in the margin, and a sentence. */
export interface Finding {
  word: string | Markup;
  text: string | Markup;
}

function findingList(findings: readonly Finding[]): Markup | undefined {
  if (findings.length === 0) return undefined;
  return markup`<ul class="find">${findings.map(({ word, text }) => markup`<li><span>${word}</span><span>${text}</span></li>`)}</ul>`;
}

function warningList(warnings: readonly string[]): Markup | undefined {
  if (warnings.length === 0) return undefined;
  return markup`<ul class="find warn" aria-label="Warnings">${warnings.map((warning) => markup`<li><span>warning</span><span>${warning}</span></li>`)}</ul>`;
}

/** Lists the machine and the load, which the figures depend on. */
export function factList(entries: readonly (readonly [name: string, value: string])[]): Markup {
  return markup`<dl class="facts">${entries.map(([name, value]) => markup`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}
