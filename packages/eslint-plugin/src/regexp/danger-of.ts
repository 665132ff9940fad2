import { RegExpParser } from '@eslint-community/regexpp';
import { analyse, type Report } from 'scslre';
import { ambiguousLoop } from './ambiguous-loop.ts';

/** A regular expression whose time grows faster than the text it is matched against. */
export interface Danger {
  growth: 'exponential' | 'polynomial';
  /** The repeated text that takes the time, if one follows that the expression does not match. */
  repeated: string;
  /** Set if the repetition has a search from each start in the text as its cause, not backtracking: always polynomial. */
  bySearching?: true;
}

/** A longer expression is generated, and takes longer to judge than a linter has. */
const maxLength = 2_000;

/**
 * Returns how a regular expression can be made slow by a text; undefined if no way is found. Judged by its syntax alone: nothing
 * is run.
 */
export function dangerOf(source: string, flags: string): Danger | undefined {
  if (source.length > maxLength) return undefined;
  try {
    const parser = new RegExpParser();
    const unicode = { unicode: flags.includes('u'), unicodeSets: flags.includes('v') };
    const parsed = {
      pattern: parser.parsePattern(source, 0, source.length, unicode),
      flags: parser.parseFlags(flags),
    };
    const reports = analyse(parsed).reports.toSorted((a, b) => rankOf(b) - rankOf(a));
    const [worst] = reports;
    if (worst?.exponential !== true) {
      const loop = ambiguousLoop(parsed);
      if (loop !== undefined) return { growth: 'exponential', repeated: loop };
    }
    if (worst === undefined) return undefined;
    return {
      growth: worst.exponential ? 'exponential' : 'polynomial',
      repeated: worst.character.pick,
      ...(worst.type === 'Move' ? { bySearching: true as const } : {}),
    };
  } catch {
    // Syntax that the parser or the automata do not know.
    return undefined;
  }
}

/** Describes the text that takes the time, for a sentence. */
export function attackText({ repeated }: Danger): string {
  return `${JSON.stringify(repeated)} many times over, followed by what it does not match`;
}

function rankOf({ exponential, type }: Report): number {
  return exponential ? 2 : type === 'Move' ? 0 : 1;
}
