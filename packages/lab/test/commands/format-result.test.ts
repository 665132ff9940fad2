import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formatResult } from '../../src/command/format-result.ts';

const slice = (restart: number, block: number, variant: string): object => ({
  restart,
  block,
  variant,
  requests: 100,
});

describe('the JSON of a result', () => {
  test('has a line for each key, each record of a list, and each block of slices', () => {
    const result = {
      schema: 1,
      machine: { cpuModel: 'A', cores: 2 },
      none: undefined,
      startedAt: new Date(0),
      variants: [
        { name: 'base', rps: 1_000.5, rpsRatio: { value: 1, low: 1, high: 1 }, verdict: 'base' },
        { name: 'other', skipped: 'It did not start: its "port" is taken.' },
      ],
      warnings: [],
      series: Array.from({ length: 60 }, (_, at) => at),
      slices: [slice(1, 1, 'a'), slice(1, 1, 'b'), slice(1, 2, 'b'), slice(2, 2, 'b')],
    };
    const text = formatResult(result);
    assert.equal(
      text,
      `{
  "schema": 1,
  "machine": {"cpuModel":"A","cores":2},
  "startedAt": "1970-01-01T00:00:00.000Z",
  "variants": [
    {"name":"base","rps":1000.5,"rpsRatio":{"value":1,"low":1,"high":1},"verdict":"base"},
    {"name":"other","skipped":"It did not start: its \\"port\\" is taken."}
  ],
  "warnings": [],
  "series": [${result.series.join(',')}],
  "slices": [
    {"restart":1,"block":1,"variant":"a","requests":100}, {"restart":1,"block":1,"variant":"b","requests":100},
    {"restart":1,"block":2,"variant":"b","requests":100},
    {"restart":2,"block":2,"variant":"b","requests":100}
  ]
}
`,
    );
    assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(result)));
  });

  test('opens an object that is long, as the comparison within a trial is', () => {
    const bench = {
      variants: [{ name: 'a'.repeat(600) }, { name: 'b'.repeat(600) }],
      warnings: [],
    };
    const text = formatResult({ bench });
    assert.deepEqual(
      text.split('\n').map((line) => line.slice(0, 20)),
      [
        '{',
        '  "bench": {',
        '    "variants": [',
        '      {"name":"aaaaa',
        '      {"name":"bbbbb',
        '    ],',
        '    "warnings": []',
        '  }',
        '}',
        '',
      ],
    );
    assert.deepEqual(JSON.parse(text), { bench });
  });
});
