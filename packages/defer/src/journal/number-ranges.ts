/** Formats `[1, 2, 3, 7]` as `'1-3,7'`, for the marks of jobs that are done. */
export function formatRanges(numbers: number[]): string {
  const sorted = numbers.sort((a, b) => a - b);
  let text = '';
  for (let at = 0; at < sorted.length;) {
    const first = sorted[at]!;
    let last = first;
    while (++at < sorted.length && sorted[at]! <= last + 1) last = sorted[at]!;
    text += `${text === '' ? '' : ','}${first}${last === first ? '' : `-${last}`}`;
  }
  return text;
}

export function* parseRanges(text: string): Generator<[first: number, last: number]> {
  for (const range of text.split(',')) {
    const [first, last = first] = range.split('-').map(Number);
    if (first !== undefined && Number.isSafeInteger(first)) yield [first, last!];
  }
}
