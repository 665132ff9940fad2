import { figuresOf } from '../../bench/report/figures.ts';
import { ladderSection, stepsSection } from '../../bench/report/ladder.ts';
import { measuredRows, type MeasuredRow } from '../../bench/report/rows.ts';
import { callsSections } from '../../calls-out/report/calls-section.ts';
import {
  diff,
  type Document,
  estimate,
  figure,
  isIn,
  type Item,
  items,
  type Maybe,
  name,
  notes,
  present,
  type Section,
  source,
  table,
  words,
} from '../../document/document.ts';
import { code, say, strong } from '../../document/text.ts';
import type { Interval } from '../../figures.ts';
import { type ColumnText, fixed, range, seconds } from '../../report/format.ts';
import type { DoctorResult, Finding } from '../result.ts';
import {
  cachedRouteTexts,
  circumstances,
  costNote,
  costText,
  countText,
  nothingText,
  placeOf,
  proofText,
  shareText,
  togetherText,
} from './doctor-rows.ts';

/** Shows what costs time in an app, each with its change. */
export function doctorDocument(result: DoctorResult): Document {
  const { title, measured, findings, app } = result;
  const counts = countText(result);
  const about = circumstances(result);
  const together = togetherText(result);
  return {
    ...result,
    label: 'DOCTOR',
    pageTitle: `Doctor: ${title}`,
    aside: `${counts} · ${seconds(result.durationSeconds)}`,
    about,
    facts: [
      measured && ['Response', `${fixed(measured.responseBytes)} bytes`],
      measured && ['Samples', fixed(measured.samples)],
    ],
    findings: [
      { word: 'found', text: counts },
      together !== undefined && { word: 'proved', text: together },
      ...about.map((text) => ({ word: 'looked at', text })),
    ],
    sections: [
      findingsSection(result),
      ...callsSections(measured?.calls),
      cachedSection(result),
      ...ladders(result),
      {
        id: 'together',
        heading: 'Together',
        parts: [
          notes(
            [together, findings.some(({ cost }) => cost !== undefined) && costNote],
            ['terminal', 'markdown'],
          ),
        ],
      },
    ],
    method: [
      'certain: the code says so. likely: it does so in nearly every app that looks like this. hint: worth a look.',
      measured && costNote,
      measured &&
        'Not on a measured path: no request of this load ran through it; other routes may.',
      'A change is written down where the code around it shows that it can be made. Review it, run your tests, and measure before and after.',
    ],
    next:
      measured === undefined || app.started === undefined
        ? 'redline doctor -- COMMAND'
        : `redline try ${app.started}`,
  };
}

function findingsSection(result: DoctorResult): Section {
  const { findings, measured } = result;
  const summary = table<Finding>(
    findings,
    [
      name('finding', ({ title }) => title),
      words('place', (each) => code(placeOf(each))),
      words('sure', ({ sure }) => sure),
      ...(measured === undefined ? [] : [figure('cost per request', costText)]),
    ],
    { in: ['markdown'] },
  );
  return {
    id: 'findings',
    heading: 'Findings',
    parts: [
      summary,
      { ...items(findings.map((each) => itemOf(each, measured))), isNumbered: true },
      notes([
        findings.length === 0 && nothingText(result),
        findings.length > 0 &&
          measured === undefined &&
          say`${code('redline doctor -- COMMAND')} measures what each of them costs.`,
      ]),
    ],
  };
}

function itemOf(finding: Finding, measured: DoctorResult['measured']): Item {
  const { title, rule, sure, why, how, excerpt, diff: change, proof } = finding;
  const cost = present([costText(finding), shareText(finding, measured)]).join(', ');
  return {
    title,
    aside: present([cost, sure]).join(' · '),
    lines: [
      say`${code(placeOf(finding))}  ${rule}`,
      proof && say`${strong(proofText(proof))}`,
      change === '' && { ...source(excerpt), text: code(excerpt), markdown: '' },
      why,
      how,
      change !== '' && diff(change),
    ],
  };
}

function cachedSection(result: DoctorResult): Section | undefined {
  const texts = cachedRouteTexts(result);
  if (texts.length === 0) return undefined;
  const heading = 'Cached routes: read of requests';
  return {
    id: 'cached',
    heading,
    label: 'CACHED   read of requests by each cached route',
    parts: [notes(texts)],
  };
}

/** Returns the ladder of the changes, as `redline ladder` shows it; Markdown has each on top of those above it. */
function ladders({ ladder }: DoctorResult): Maybe<Section>[] {
  if (ladder === undefined) return [];
  const figures = figuresOf(ladder);
  const section = ladderSection(ladder, figures);
  const rungs = measuredRows(ladder).filter(({ role }) => role !== 'control');
  const ratio = (of: Interval, role: MeasuredRow['role']): ColumnText =>
    role === 'base'
      ? { value: '1', pad: '', range: '' }
      : { value: fixed(of.value, 2), pad: '', range: range(of, 2) };
  const inMarkdown = table<MeasuredRow>(
    rungs,
    [
      name('each on top of those above it', (row) => code(row.name)),
      figure('CPU µs', ({ variant }) => fixed(variant.cpuMicrosPerRequest, 1)),
      estimate('× less CPU', ({ variant, role }) => ratio(variant.cpuRatio, role)),
      estimate('× requests/s', ({ variant, role }) => ratio(variant.rpsRatio, role)),
    ],
    { in: ['markdown'] },
  );
  return [
    {
      ...section,
      label: `LADDER   ${ladder.title}:`,
      parts: [...section.parts.filter((part) => !isIn('markdown', part)), inMarkdown],
    },
    stepsSection(figures),
  ];
}
