import { callsMarkdown } from '../../calls-out/report/calls-markdown.ts';
import { isMeasuredRow, rowsOf } from '../../bench/report/rows.ts';
import type { Interval } from '../../figures.ts';
import { fixed } from '../../report/format.ts';
import { code, escaped, heading, markdownOf, table, warningList } from '../../report/markdown.ts';
import type { DoctorResult, Finding } from '../result.ts';
import {
  circumstances,
  costNote,
  costText,
  countText,
  nothingText,
  placeOf,
  proofText,
  togetherText,
} from './doctor-rows.ts';

/** Renders a table of all findings, then each with its change. */
export function doctorMarkdown(result: DoctorResult): string {
  const { findings, measured, title, warnings } = result;
  const together = togetherText(result);
  const rows = findings.map((finding) => [
    escaped(finding.title),
    code(placeOf(finding)),
    finding.sure,
    ...(measured === undefined ? [] : [costText(finding)]),
  ]);
  const columns = [
    'finding',
    'place',
    'sure',
    ...(measured === undefined ? [] : [{ right: 'cost per request' }]),
  ];
  return markdownOf(
    heading(`${title}: ${countText(result)}`),
    warningList(warnings),
    escaped(circumstances(result).join(' ')),
    rows.length === 0 ? nothingText(result) : table(columns, rows),
    measured === undefined || rows.length === 0 ? undefined : costNote,
    callsMarkdown(measured?.calls),
    cachedTable(result),
    ladderTable(result),
    together === undefined ? undefined : escaped(together),
    ...findings.map(details),
  );
}

function cachedTable({ measured }: DoctorResult): string | undefined {
  const routes = measured?.cachedRoutes ?? [];
  if (routes.length === 0) return undefined;
  const rows = routes.map(({ route, reads }) => [code(route), escaped(reads.join('; '))]);
  return table(['cached route', 'read of its requests, beside the URL'], rows);
}

function ladderTable({ ladder }: DoctorResult): string | undefined {
  if (ladder === undefined) return undefined;
  const rows = rowsOf(ladder)
    .filter(isMeasuredRow)
    .filter(({ role }) => role !== 'control')
    .map(({ name, role, variant: { cpuMicrosPerRequest, cpuRatio, rpsRatio } }) => [
      code(name),
      fixed(cpuMicrosPerRequest, 1),
      role === 'base' ? '1' : times(cpuRatio),
      role === 'base' ? '1' : times(rpsRatio),
    ]);
  const columns = [
    'each on top of those above it',
    { right: 'CPU µs' },
    { right: '× less CPU' },
    { right: '× requests/s' },
  ];
  return table(columns, rows);
}

function times({ value, low, high }: Interval): string {
  return `${fixed(value, 2)} [${fixed(low, 2)}, ${fixed(high, 2)}]`;
}

function details(finding: Finding): string {
  const { title, rule, why, how, diff, proof } = finding;
  const proved = proof === undefined ? '' : ` ${escaped(proofText(proof))}`;
  const change = diff === '' ? '' : `\n\n\`\`\`diff\n${diff.trimEnd()}\n\`\`\``;
  return `**${escaped(title)}** (${code(rule)}), ${code(placeOf(finding))}: ${escaped(why)} ${escaped(how)}${proved}${change}`;
}
