import { callsMarkdown } from '../calls-out/report/calls-markdown.ts';
import { profiledText, threadsText } from '../profile/profiled-thread.ts';
import { ownerNames, owners } from '../profile/owner.ts';
import { tierNames, tiers } from '../profile/tiers.ts';
import { fixed, percent, plural, signed } from '../report/format.ts';
import {
  bold,
  code,
  escaped,
  heading,
  markdownOf,
  table,
  warningList,
} from '../report/markdown.ts';
import { type FunctionChange, kindOf } from './change.ts';
import type { FlameDiff } from './change-report.ts';
import { microsPerSampleOf } from './graph-data.ts';
import type { FlameFunction, FlameResult } from './result.ts';
import { hottest, packagesText, regExpText, unoptimised } from './words.ts';

const maxRows = 20;

/** Renders the functions with the most own time; the graph itself is in the page. */
export function flameMarkdown(result: FlameResult): string {
  const { samples, load, title, variant, node, profiled } = result;
  const perSample = microsPerSampleOf(result);
  const hasMicros = perSample > 0;
  const rows = hottest(result, maxRows).map((each) => [
    code(each.name),
    percent(each.self / samples),
    ...(hasMicros ? [fixed(each.self * perSample, 2)] : []),
    percent(each.total / samples),
    tiersOf(each),
    each.place === '' ? ownerNames[each.owner] : code(each.place),
  ]);
  const columns = [
    'function',
    { right: 'own' },
    ...(hasMicros ? [{ right: 'own µs' }] : []),
    { right: 'total' },
    'tier',
    'place',
  ];
  const slow = unoptimised(result);
  const packages = packagesText(result);
  const regExp = regExpText(result);
  return markdownOf(
    heading(`${title}, ${variant}${node === undefined ? '' : `, Node ${node}`}`),
    warningList(result.warnings),
    `${plural(samples, 'sample')}${load === undefined ? '' : `, ${fixed(load.microsPerRequest, 1)} µs of the ${threadsText(profiled)} per request`}: ${owners.map((owner) => `${ownerNames[owner]} ${percent(result.owners[owner] / samples)}`).join(', ')}.`,
    profiled && `Profiled: ${escaped(profiledText(profiled))}.`,
    callsMarkdown(result.calls),
    packages && `In packages, with what Node does for them: ${escaped(packages)}.`,
    table(columns, rows),
    slow.length > 0
      ? `Hot and not optimised: ${slow.map(({ name }) => code(name)).join(', ')}. Next: \`redline deopts\`.`
      : undefined,
    regExp && escaped(regExp),
  );
}

function tiersOf({ tiers: shares }: FlameFunction): string {
  const [main] = tiers.toSorted((a, b) => (shares[b] ?? 0) - (shares[a] ?? 0));
  return main === undefined || !shares[main] ? '' : tierNames[main];
}

export function changeMarkdown({ title, change, warnings }: FlameDiff): string {
  const isMicros = change.unit === 'micros';
  const scale = isMicros ? 1 : 100;
  const figure = (value: number): string => fixed(value * scale, 2);
  const rows = change.functions
    .slice(0, maxRows)
    .map((each) => [
      code(each.name),
      figure(each.before),
      figure(each.after),
      signed((each.after - each.before) * scale, 2),
      `[${figure(each.low)}, ${figure(each.high)}]`,
      word(each),
      each.place === '' ? ownerNames[each.owner] : code(each.place),
    ]);
  const unit = isMicros ? 'µs' : '%';
  const columns = [
    'function',
    { right: `before ${unit}` },
    { right: `after ${unit}` },
    { right: 'change' },
    { right: '95 % interval' },
    'own time',
    'place',
  ];
  const { before, after } = change.whole;
  return markdownOf(
    heading(title),
    warningList(warnings),
    isMicros
      ? `Main thread per request: ${fixed(before, 1)} → ${fixed(after, 1)} µs, ${signed(after - before, 1)}.`
      : 'At least one profile has no load beside it: figures are shares of the samples.',
    table(columns, rows),
    escaped(
      'Intervals are of the sampling alone, of one run each; redline bench tells whether it pays.',
    ),
  );
}

function word(each: FunctionChange): string {
  const kind = kindOf(each);
  return kind === 'same' ? 'not told apart' : bold(kind);
}
