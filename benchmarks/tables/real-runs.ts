// The texts of the guides about real runs, made one by one and all kept.
import { changes, type ComparedRun, judgeAll } from '../ci-rules.ts';
import type { CiVerdicts } from '../proofs/ci-verdicts.ts';
import { percent, rawData, table } from './format.ts';

const words = ['changed', 'same', 'unresolved', 'withheld', 'failed'] as const;
type Words = Partial<Record<(typeof words)[number], number>>;

interface Read {
  more: number;
  standardError: number;
}

/** Indexed by the conditions of the runs. */
export interface VerdictsReal {
  summary: Record<
    string,
    {
      runs: number;
      words: Record<string, Words>;
      reads: Record<string, Read | null>;
      medianResolution: number | null;
      longestSeconds: number;
    }
  >;
}

export interface LadderReal {
  summary: Record<
    string,
    {
      runs: number;
      failed: number;
      medianReach: number | null;
      withinBar: number;
      stepsOfATenth: number;
      resolved: number;
      longestSeconds: number;
    }
  >;
}

const askedWith: Record<string, string> = {
  copy: 'its copy',
  'twin 3 %': 'the twin',
  'earlier twin': 'the earlier twin',
};

/** Verdicts of `redline bench`, by the server's counterpart. */
export function verdictsRealText({ summary }: VerdictsReal): string {
  return `${Object.entries(summary).map(wordsUnder).join('\n\n')}

${rawData('verdicts-real')}`;
}

function wordsUnder([conditions, found]: [string, VerdictsReal['summary'][string]]): string {
  const rows = Object.entries(found.words).map(([asked, counts]) => [
    askedWith[asked] ?? asked,
    readText(found.reads[asked]),
    ...words.map((word) => String(counts[word] ?? 0)),
  ]);
  const resolved = found.medianResolution;
  const median =
    resolved === null ? '' : `; the copy of the base is known to ± ${percent(resolved)} (median)`;
  return `${table(['the server against', 'more CPU ± standard error', ...words], rows)}

${found.runs} runs (${conditions}), of at most ${found.longestSeconds} seconds${median}.`;
}

function readText(read: Read | null | undefined): string {
  return read ? `${percent(read.more)} ± ${percent(read.standardError)}` : '–';
}

/** Reports how well `npm start` distinguishes the rungs. */
export function ladderRealText({ summary }: LadderReal): string {
  const rows = Object.entries(summary).map(([conditions, found]) => [
    conditions,
    String(found.runs - found.failed),
    found.medianReach === null ? '–' : `± ${percent(found.medianReach)}`,
    `${found.resolved} of ${found.stepsOfATenth}`,
    `${found.longestSeconds} s`,
  ]);
  const head = [
    'conditions',
    'runs',
    'CPU of rung 00 against itself, median',
    'steps of a tenth and more told apart',
    'longest run',
  ];
  return `${table(head, rows)}

${rawData('ladder-real')}`;
}

const commits = { same: 'changes nothing', slower: 'makes a request take 5 % more CPU' };
const wordsOfCi = ['slower', 'undecided', 'within'] as const;

/** Reports how often the build is red. */
export function ciVerdictsText({ summary, runs }: CiVerdicts): string {
  const rows = Object.entries(commits).map(([kind, commit]) => {
    const { runs: made, red, words: counts } = summary[kind as keyof typeof commits];
    const took = runs.filter((run) => run.kind === kind).map(({ seconds }) => seconds);
    const longest = took.length === 0 ? '–' : `${Math.max(...took)} s`;
    const said = wordsOfCi.map((word) => String(counts[word] ?? 0));
    return [commit, `${red} of ${made}`, ...said, longest];
  });
  return `${table(['the commit', 'red builds', ...wordsOfCi, 'longest run'], rows)}

Runs made one by one, and all kept. ${rawData('ci-verdicts')}`;
}

export interface CiCompared {
  runs: ComparedRun[];
}

/** Reports false and missed red builds, by rule. */
export function ciComparedText({ runs }: CiCompared): string {
  const rows = Object.entries(judgeAll(runs)).map(([rule, judged]) => [
    rule,
    ...changes.map((change) => {
      const { runs: made, red } = judged[Math.round(change * 100)]!;
      return made === 0 ? '–' : `${change === 0 ? red : made - red} of ${made}`;
    }),
  ]);
  const planted = changes.slice(1).map((change) => `missed at ${percent(change)}`);
  const longest = Math.max(...runs.map(({ seconds }) => seconds));
  return `${table(['the build is red if', 'red without a change', ...planted], rows)}

${runs.length} planted changes, judged one by one in at most ${longest} seconds each, and all kept.
${rawData('ci-compared')}`;
}
