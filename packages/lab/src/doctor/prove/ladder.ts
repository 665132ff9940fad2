import type { BenchResult } from '../../bench/result.ts';
import type { Tree } from '../../trees/trees.ts';
import { verdictOf } from '../../try/verdict.ts';
import type { Candidate } from '../examine.ts';
import { change, check, compare, treeAt, variantIn, type Where } from './changed-tree.ts';

/**
 * Measures the unchanged app, and each change on top of the previous ones, in one run: the last rung contains all of them.
 * @throws {LabError} if a rung cannot be built, fails the tests, or responds differently
 */
export async function measureLadder(
  kept: readonly Candidate[],
  where: Where,
): Promise<BenchResult> {
  const { options } = where;
  const names = changeNames(kept);
  const restores: (() => void)[] = [];
  try {
    const rungs: { tree: Tree; candidates: readonly Candidate[] }[] = [];
    for (const [index, name] of names.entries()) {
      const candidates = kept.slice(0, index + 1);
      const tree = await treeAt(index, where);
      restores.push(change(candidates, tree, where));
      await check(`rung ${index + 1} of ${kept.length}, ${name}`, tree, where);
      rungs.push({ tree, candidates });
    }
    const changed = rungs.map(({ tree, candidates }, index) => ({
      ...variantIn(tree, names[index]!, candidates, where),
      note: placeOf(kept[index]!),
    }));
    // Each rung is also compared with the one below it, so each gets its own time.
    const seconds = options.secondsEach * kept.length;
    const measured = (): Promise<BenchResult> =>
      compare('ladder', 'Each change that gains, on top of those before it', {
        changed,
        seconds,
        where,
      });
    const ladder = await measured();
    // One run in twenty finds the app different from itself by chance.
    return verdictOf(ladder, names.at(-1)) === 'withheld' ? await measured() : ladder;
  } finally {
    for (const restore of restores) restore();
  }
}

function placeOf({ finding: { file, line } }: Candidate): string {
  return `${file}:${line}`;
}

/** Names the app with a change by the rule of the change, with the line if a rule found more than one. */
export function changeNames(changes: readonly Candidate[]): string[] {
  const named = changes.map(({ finding: { rule, line } }) => ({ rule, line }));
  return named.map(({ rule, line }, index) => {
    const same = named.filter((each) => each.rule === rule);
    const isOne = same.length === 1;
    const isOneLine = same.filter((each) => each.line === line).length === 1;
    return `+ ${rule}${isOne ? '' : isOneLine ? `:${line}` : `:${line} #${index + 1}`}`;
  });
}
