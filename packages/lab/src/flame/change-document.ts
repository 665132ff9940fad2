import {
  type Document,
  type Drawing,
  estimate,
  figure,
  type Finding,
  name,
  notes,
  type Section,
  table,
  words,
} from '../document/document.ts';
import { code, say, strong, type Text, verdict } from '../document/text.ts';
import { ownerNames, owners } from '../profile/owner.ts';
import { factList } from '../report/command-header.ts';
import { fixed, percent, plural, range, signed } from '../report/format.ts';
import { markup } from '../report/markup.ts';
import type { RunFacts } from '../report/run-facts.ts';
import { changeTree, type FunctionChange, kindOf, type ProfileChange } from './change.ts';
import { graphDataOf, microsPerSampleOf } from './graph-data.ts';
import { graphScript } from './graph-script.ts';
import { controls, dataScript } from './graph-section.ts';
import { graphStyle } from './graph-style.ts';
import type { FlameResult } from './result.ts';

/** The result of `redline flame --diff`. */
export interface FlameDiff extends RunFacts {
  schema: 1;
  command: 'flame-diff';
  title: string;
  scenario: string;
  before: FlameResult;
  after: FlameResult;
  change: ProfileChange;
  warnings: string[];
}

/** Shows which functions take less or more of their own time than before. */
export function changeDocument(diff: FlameDiff): Document {
  const { change, before, after } = diff;
  return {
    ...diff,
    label: 'FLAME --diff',
    aside: '',
    about: [wholeText(change)],
    facts: [],
    findings: [{ word: 'whole', text: `${wholeText(change)}.` }, ...findings(change)],
    sections: [
      graph(diff),
      {
        page: {
          id: 'facts',
          heading: 'Measured on',
          body: factList([
            ['Before', sideText(before)],
            ['After', sideText(after)],
          ]),
        },
      },
      functions(change),
    ],
    method: [
      'Each side is one profile of one process. The intervals cover sampling error only; two starts of the same code differ by more, mainly in what V8 inlines, which moves time between a caller and its callees.',
      'To see whether a change pays, use redline bench, which starts both sides several times.',
    ],
  };
}

function functions(change: ProfileChange): Section {
  const unit = change.unit === 'micros' ? 'µs' : '%';
  const figureOf = scaled(change);
  return {
    id: 'change',
    heading: 'Functions by change of own time',
    lead: `Own time, ${unit === 'µs' ? 'µs per request on the main thread' : 'share of the samples'}, with the 95 % interval of the sampling error. Functions are matched by name and file, so edited lines do not separate them; two files that share most of their functions count as one.`,
    parts: [
      table<FunctionChange>(
        change.functions,
        [
          name('function', (each) => code(each.name), { width: '22%' }),
          figure('before', (each) => figureOf(each.before), { unit }),
          figure('after', (each) => figureOf(each.after), { unit }),
          estimate('change', ({ before, after, low, high }) => ({
            value: signed((after - before) * scaleOf(change), 2),
            pad: '',
            range: range({ low: low * scaleOf(change), high: high * scaleOf(change) }, 2),
          })),
          words('own time', kindWord),
          words('place', placeOf, { in: ['page', 'markdown'] }),
        ],
        { limit: { terminal: 15, markdown: 20, page: 40 } },
      ),
      notes([
        say`${verdict('better', 'less')}, ${verdict('worse', 'more')}: beyond the sampling error, of one run each. redline bench shows whether it pays.`,
      ]),
    ],
  };
}

function findings(change: ProfileChange): Finding[] {
  const figureOf = scaled(change);
  const unit = change.unit === 'micros' ? 'µs' : '%';
  return change.functions
    .filter((each) => kindOf(each) !== 'same')
    .slice(0, 4)
    .map((each) => ({
      word: kindWord(each),
      text: say`${strong(each.name)} (${each.place || ownerNames[each.owner]}): ${figureOf(each.before)} ${unit} before, ${figureOf(each.after)} ${unit} after.`,
    }));
}

function kindWord(each: FunctionChange): Text {
  const kind = kindOf(each);
  if (kind === 'same') return verdict('unresolved', 'not told apart');
  return verdict(kind === 'less' ? 'better' : 'worse', kind);
}

function placeOf({ place, owner }: FunctionChange): Text {
  return place === '' ? ownerNames[owner] : code(place);
}

function scaleOf({ unit }: ProfileChange): number {
  return unit === 'micros' ? 1 : 100;
}

function scaled(change: ProfileChange): (value: number) => string {
  return (value) => fixed(value * scaleOf(change), 2);
}

function wholeText({ unit, whole: { before, after } }: ProfileChange): string {
  return unit === 'micros'
    ? `main thread per request ${fixed(before, 1)} → ${fixed(after, 1)} µs, ${signed(after - before, 1)}`
    : 'at least one profile was taken without a load: figures are shares of the samples, and a request that became cheaper does not show';
}

function sideText({ variant, node, samples }: FlameResult): string {
  return `${variant}${node === undefined ? '' : `, Node ${node}`}; ${plural(samples, 'sample')}`;
}

/** Draws the later profile, coloured by the change. */
function graph({ before, after }: FlameDiff): Drawing {
  const shares = Object.fromEntries(
    owners.map((owner) => [owner, percent(after.owners[owner] / after.samples)]),
  ) as Record<(typeof owners)[number], string>;
  const hasLoad = before.load !== undefined && after.load !== undefined;
  const data = {
    ...graphDataOf(after),
    mode: 'change' as const,
    nodes: changeTree(before, after),
    microsPerSample: hasLoad ? microsPerSampleOf(after) : 0,
    microsPerSampleBefore: hasLoad ? microsPerSampleOf(before) : 0,
    samplesBefore: before.samples,
  };
  return {
    page: {
      id: 'flame',
      heading: 'Flamegraph of the change',
      css: graphStyle,
      script: graphScript,
      body: markup`<p class="lead">The profile after, coloured by what the same chain of callers took before. Frames that disappeared are listed only in the table. A frame is coloured when the change is beyond the error of sampling.</p><div data-flame>${controls(shares, 0)}<ul class="fg-key" aria-label="Colours"><li class="cl"><b>▲</b>takes less</li><li class="cm"><b>▼</b>takes more, or is new</li><li class="ce"><b>·</b>no change beyond the error of sampling</li></ul><div><svg class="fg" height="21" role="group" aria-label="Flamegraph of the change, root at the top"></svg><p class="fg-say">Enter or click zooms a frame, Esc resets; arrow keys move to caller, callee and neighbours, / searches.</p></div>${dataScript(data)}</div><noscript><p class="lead">The graph needs script; the table below does not.</p></noscript>`,
    },
  };
}
