import { callsSections } from '../../calls-out/report/calls-section.ts';
import { figuresOf } from '../../bench/report/figures.ts';
import { ladderSection } from '../../bench/report/ladder-table.ts';
import { stepsSection } from '../../bench/report/steps-table.ts';
import { commandHeader } from '../../report/command-header.ts';
import { fixed } from '../../report/format.ts';
import { markup, type Markup } from '../../report/markup.ts';
import { renderPage } from '../../report/page.ts';
import type { Section } from '../../report/section.ts';
import type { DoctorResult, Finding } from '../result.ts';
import {
  cachedRouteTexts,
  circumstances,
  costNote,
  costText,
  countText,
  nothingText,
  placeOf,
  shareText,
  proofText,
  togetherText,
} from './doctor-rows.ts';

/** Renders the report of `redline doctor` as one self-contained file. */
export function renderDoctorHtml(result: DoctorResult): string {
  const { measured } = result;
  const lead = circumstances(result).map((text) => ({ word: 'looked at', text }));
  const together = togetherText(result);
  const proved = together === undefined ? [] : [{ word: 'proved', text: together }];
  const facts: [string, string][] =
    measured === undefined
      ? []
      : [
          ['Response', `${fixed(measured.responseBytes)} bytes`],
          ['Samples', fixed(measured.samples)],
        ];
  return renderPage({
    title: `Doctor: ${result.title}`,
    header: commandHeader(
      result,
      [{ word: 'found', text: countText(result) }, ...proved, ...lead],
      facts,
    ),
    sections: [
      ...ladderSections(result),
      findingsSection(result),
      ...callsSections(result.measured?.calls),
      ...cachedSections(result),
      methodSection(result),
    ],
  });
}

/** Returns the same sections as the page of a ladder. */
function ladderSections({ ladder }: DoctorResult): Section[] {
  if (ladder === undefined) return [];
  const figures = figuresOf(ladder);
  const steps = stepsSection(figures);
  return [ladderSection(ladder, figures), ...(steps === undefined ? [] : [steps])];
}

function findingsSection(result: DoctorResult): Section {
  const { findings } = result;
  return {
    id: 'findings',
    heading: 'Findings',
    body:
      findings.length === 0
        ? markup`<p class="lead">${nothingText(result) ?? ''}</p>`
        : markup`<ol>${findings.map((finding) => item(finding, result.measured))}</ol>`,
    css: `#findings li{margin:0 0 16px}#findings pre{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--soft);padding:8px;margin:4px 0 0}#findings small{color:var(--ink2)}#findings p{margin:4px 0;overflow-wrap:anywhere}#findings small code{overflow-wrap:anywhere}
`,
  };
}

function cachedSections(result: DoctorResult): Section[] {
  const texts = cachedRouteTexts(result);
  if (texts.length === 0) return [];
  return [
    {
      id: 'cached',
      heading: 'Cached routes: read of requests',
      body: markup`<ul>${texts.map((text) => markup`<li>${text}</li>`)}</ul>`,
    },
  ];
}

function item(finding: Finding, measured: DoctorResult['measured']): Markup {
  const cost = [costText(finding), shareText(finding, measured)]
    .filter((text) => text !== '')
    .join(', ');
  const proved =
    finding.proof === undefined ? '' : markup`<p><b>${proofText(finding.proof)}</b></p>`;
  const shown = finding.diff === '' ? finding.excerpt : finding.diff.trimEnd();
  return markup`<li><b>${finding.title}</b>${cost === '' ? '' : markup` · ${cost}`} · ${finding.sure}<br><small><code>${placeOf(finding)}</code> ${finding.rule}</small><p>${finding.why} ${finding.how}</p>${proved}<pre><code>${shown}</code></pre></li>`;
}

function methodSection({ measured }: DoctorResult): Section {
  const sentences = [
    'certain: the code says so. likely: it does so in nearly every app that looks like this. hint: worth a look.',
    ...(measured === undefined
      ? []
      : [
          costNote,
          'Not on a measured path: no request of this load ran through it; other routes may.',
        ]),
    'A change is written down where the code around it shows that it can be made. Review it, run your tests, and measure before and after.',
  ];
  return {
    id: 'method',
    heading: 'Method and limits',
    body: markup`<ul>${sentences.map((text) => markup`<li>${text}</li>`)}</ul>`,
  };
}
