// What docs/guide/statistics.md says of the proofs in benchmarks/proofs.

interface Interval {
  value: number;
  low: number;
  high: number;
}

export interface StairsInjection {
  summary: {
    runs: number;
    requestMicros: number;
    found: Record<string, number>;
    read: Record<string, [number, number]>;
    zeroCostStages: number;
    falselyFlagged: number;
    widestStageShare: number;
    longestSeconds: number;
  };
  loopCost: { added: { loops: number[]; length: number; addedMicros: Interval }[] };
}

export function injectionText({ summary, loopCost }: StairsInjection): string {
  const head = ['put into a stage', 'read, lowest to highest', 'within its interval'];
  const rows = Object.entries(summary.found).map(([amount, found]) => {
    const [low, high] = summary.read[amount]!;
    return [amount, `${micros(low)} to ${micros(high)} µs`, `${found} of ${summary.runs} runs`];
  });
  return `${table(head, rows)}

${summary.runs} runs of at most ${summary.longestSeconds.toFixed(0)} seconds on a request of ${summary.requestMicros.toFixed(0)} µs. Every stage was known to ± ${(summary.widestStageShare * 100).toFixed(1)} % of the request or better. Of ${summary.zeroCostStages}
functions that do nothing, ${summary.falselyFlagged} were said to cost something.

What a loop adds to a request when it is switched on, and nothing is cut:

${loopTable(loopCost.added)}

Raw data: [benchmarks/results/stairs-injection.json](../../benchmarks/results/stairs-injection.json).`;
}

function loopTable(added: StairsInjection['loopCost']['added']): string {
  const single = added.filter(({ loops }) => loops.length === 1);
  const rows = single.flatMap(({ length, addedMicros }) => {
    const second = added.find((each) => each.loops.length === 2 && each.length === length);
    return second === undefined
      ? []
      : [[`${length} µs`, interval(addedMicros), interval(second.addedMicros)]];
  });
  const shield = added.find(({ loops }) => loops.length === 2)?.loops[0];
  return table(['it runs for', 'alone, it adds', `after a loop of ${shield} µs, it adds`], rows);
}

function interval({ value, low, high }: Interval): string {
  return `${micros(value)} [${micros(low)}, ${micros(high)}] µs`;
}

function micros(value: number): string {
  return value.toFixed(2);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}
