import {
  bold,
  code,
  escaped,
  heading,
  markdownOf,
  table,
  warningList,
} from '../../report/markdown.ts';
import type { TryResult } from '../result.ts';
import { sentenceOf } from '../verdict.ts';
import { unchanged, withRedline } from '../app.ts';
import { circumstances, tryRows } from './try-rows.ts';

export function tryMarkdown(result: TryResult): string {
  const { where, checked, what } = circumstances(result);
  const rows = tryRows(result).map(({ what: name, before, after, gain }) => [
    name,
    before,
    after,
    gain === undefined ? '' : `${gain.ratio} ${gain.range}`,
    gain === undefined ? '' : gain.word === 'changed' ? bold(gain.word) : gain.word,
  ]);
  const columns = ['', { right: unchanged }, { right: withRedline }, { right: 'gain' }, 'verdict'];
  return markdownOf(
    heading(result.title),
    warningList(result.bench.warnings),
    bold(escaped(sentenceOf(result))),
    rows.length > 0 ? table(columns, rows) : undefined,
    escaped(
      [where, result.requestsFrom, checked, what]
        .filter((each) => each !== '')
        .join('. ')
        .replaceAll('..', '.'),
    ),
    result.word === 'gains' ? `To keep it: ${result.keep.map(code).join(', then ')}` : undefined,
  );
}
