import { callsBlock } from '../calls-out/report/calls-terminal.ts';
import { blocksText } from '../report/blocks.ts';
import { fileLines, writtenFiles } from '../report/file-lines.ts';
import { cut, ends, lineOf, tableWidth, widest, wrap } from '../report/columns.ts';
import { fixed, percent, plural } from '../report/format.ts';
import { glyphsFor, type Glyphs } from '../report/glyphs.ts';
import type { TerminalOptions } from '../report/terminal-options.ts';
import { profiledText, threadsText } from '../profile/profiled-thread.ts';
import { ownerNames, owners } from '../profile/owner.ts';
import { tierMarks, tierNames, tiers } from '../profile/tiers.ts';
import { microsPerSampleOf } from './graph-data.ts';
import { placeWithin } from './package-place.ts';
import type { FlameFunction, FlameResult } from './result.ts';
import {
  hottest,
  markedName,
  packagesText,
  regExpText,
  tierKnownText,
  unoptimised,
} from './words.ts';

const rows = 15;

/** Renders the hottest functions for a terminal; the graph itself is in the page. */
export function renderFlameTerminal(
  result: FlameResult,
  options: TerminalOptions & { profile?: string },
): string {
  const glyphs = glyphsFor(options.unicode);
  const width = tableWidth(options.width);
  const blocks = [
    heading(result, width, glyphs),
    result.warnings.flatMap((text) => wrap(`! ${text}`, width, '  ')),
    table(result, width),
    callsBlock(result.calls, width),
    legend(result, width),
    fileLines({ ...writtenFiles(options.files), profile: options.profile }, width),
  ];
  return blocksText(blocks, glyphs);
}

function heading(result: FlameResult, width: number, glyphs: Glyphs): string[] {
  const { samples, load, node, variant, tierKnown, tiersAt, profiled } = result;
  const packages = packagesText(result);
  const shares = owners.map(
    (owner) => `${ownerNames[owner]} ${percent(result.owners[owner] / samples)}`,
  );
  const byTier = tiers.map(
    (tier) => `${tierMarks[tier]} ${tierNames[tier]} ${percent(result.tiers[tier] / samples)}`,
  );
  const perRequest =
    load === undefined
      ? []
      : [`${fixed(load.microsPerRequest, 1)} µs ${threadsText(profiled)} per request`];
  return [
    glyphs.rule.repeat(width),
    ...ends(
      `FLAME   ${result.title}`,
      node === undefined ? variant : `${variant}, node ${node}`,
      width,
    ),
    ...wrap([plural(samples, 'sample'), ...perRequest].join(' · '), width),
    ...(profiled === undefined ? [] : wrap(`profiled: ${profiledText(profiled)}`, width)),
    ...wrap(shares.join(' · '), width),
    ...(packages === undefined ? [] : wrap(`in packages: ${packages}`, width)),
    ...wrap(`${byTier.join(' · ')} · no tier ${percent(result.tiers.none / samples)}`, width),
    ...(tiersAt === undefined
      ? []
      : wrap(`tier known: ${tierKnownText(tierKnown, tiersAt)}`, width)),
  ];
}

function table(result: FlameResult, width: number): string[] {
  const functions = hottest(result, rows);
  const perSample = microsPerSampleOf(result);
  const shares = functions.map(({ self }) => percent(self / result.samples));
  const totals = functions.map(({ total }) => percent(total / result.samples));
  const micros = functions.map(({ self }) => fixed(self * perSample, 2));
  const shareWidth = Math.max(6, widest(shares));
  const totalWidth = Math.max(6, widest(totals));
  const microsWidth = perSample > 0 ? Math.max(6, widest(micros)) + 2 : 0;
  const nameWidth = Math.max(18, Math.min(40, Math.floor(width / 3)));
  const rest = nameWidth + 1 + shareWidth + microsWidth + 2 + totalWidth + 2;
  const line = lineOf({
    name: { width: nameWidth, gap: 0 },
    own: { width: shareWidth, gap: 1, align: 'right' },
    micros: { width: microsWidth, gap: 0, align: 'right' },
    total: { width: totalWidth, align: 'right' },
    place: { width: 0 },
  });
  const head = { name: '  own time', own: 'own', total: 'total', place: 'place' };
  return [
    line({ ...head, micros: perSample > 0 ? 'µs' : '' }),
    ...functions.map((each, index) =>
      line({
        name: cut((each.unoptimised ? '! ' : '  ') + markedName(each), nameWidth),
        own: shares[index]!,
        micros: perSample > 0 ? micros[index]! : '',
        total: totals[index]!,
        place: placeText(each, width - rest),
      }),
    ),
  ];
}

function placeText({ place, owner }: FlameFunction, width: number): string {
  return place === '' ? ownerNames[owner] : placeWithin(place, width);
}

function legend(result: FlameResult, width: number): string[] {
  const slow: FlameFunction[] = unoptimised(result);
  const regExp = regExpText(result);
  const flagged =
    slow.length === 0
      ? []
      : wrap(
          `! hot and not optimised: ${slow.map(({ name }) => name).join(', ')}. Next: redline deopts`,
          width,
          '  ',
        );
  return [
    ...wrap(
      'The mark before a name is the tier of most of its own time; no mark: no tier.',
      width,
      '  ',
    ),
    ...flagged,
    ...(regExp === undefined ? [] : wrap(regExp, width, '  ')),
  ];
}
