import type { App } from './app/app.ts';
import type { Preload } from '../try/packages.ts';
import { diffOf, type Edit } from './edits.ts';
import type { Finding, Sure } from './result.ts';
import type { Seen, Sighting } from './rules/rule.ts';
import { rules } from './rules.ts';

/** A finding and its proposed change; without edits if the change cannot be written down. */
export interface Candidate {
  finding: Finding;
  edits: readonly Edit[];
  preload?: Preload['name'];
}

/** A finding with the data needed to look it up in a profile and to make its change. */
export interface Examined extends Candidate {
  path: string;
  /** Offset in the file; the end is exclusive. */
  start: number;
  end: number;
  seen: Seen | undefined;
}

const ofSure: Record<Sure, number> = { certain: 0, likely: 1, hint: 2 };
const maxExcerptLength = 160;

/** Runs the rules on an app and returns their findings, the surest first. */
export function examine(app: App): Examined[] {
  const found = rules.flatMap((rule) =>
    [...rule.look(app)].map((sighting) => describe(rule, sighting)),
  );
  return found.toSorted((a, b) => ofSure[a.finding.sure] - ofSure[b.finding.sure]);
}

function describe(
  { id, title }: { id: string; title: string },
  { file, start, end, sure, why, how, edits = [], preload, seen }: Sighting,
): Examined {
  const before = file.text.slice(0, start).split('\n');
  const line = file.text.split('\n')[before.length - 1]!.trim();
  return {
    finding: {
      rule: id,
      title,
      file: file.name,
      line: before.length,
      column: before.at(-1)!.length + 1,
      excerpt: line.length > maxExcerptLength ? `${line.slice(0, maxExcerptLength)}…` : line,
      sure,
      why,
      how,
      diff: diffOf(edits),
    },
    path: file.path,
    start,
    end,
    seen,
    edits,
    ...(preload === undefined ? {} : { preload }),
  };
}
