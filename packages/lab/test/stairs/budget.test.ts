import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { renderMarkdown } from '../../src/document/markdown.ts';
import { stairsDocument } from '../../src/stairs/report/stairs-document.ts';
import { type Budget, checkBudget, readBudget, writeBudget } from '../../src/stairs/budget.ts';
import { stairsFixture } from './fixture.ts';

const folder = mkdtempSync(join(tmpdir(), 'redline-budget-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const budget = (stages: Record<string, number>, more: Partial<Budget> = {}): Budget => ({
  schema: 1,
  unit: 'µs',
  stages,
  ...more,
});

function statuses(asked: Budget): Record<string, string> {
  const { rows } = checkBudget(stairsFixture(), asked, 'b.json');
  return Object.fromEntries(rows.map(({ name, status }) => [name, status]));
}

describe('a budget of stages', () => {
  test('fails only what is proved to be over: the whole interval lies above the limit', () => {
    assert.deepEqual(
      statuses(budget({ verifyToken: 5.5, selectItems: 34.5, rateLimit: 1 }, { request: 70 })),
      {
        verifyToken: 'over',
        rateLimit: 'within',
        banners: 'new',
        selectItems: 'unresolved',
        'whole request': 'within',
      },
    );
    assert.equal(checkBudget(stairsFixture(), budget({ verifyToken: 6.1 }), 'b').failed, false);
    assert.equal(checkBudget(stairsFixture(), budget({ verifyToken: 5 }), 'b').failed, true);
  });

  test('fails for a stage that is never reached any more', () => {
    assert.equal(statuses(budget({ gone: 1 }))['gone'], 'missing');
    assert.equal(checkBudget(stairsFixture(), budget({ gone: 1 }), 'b').failed, true);
  });

  test('counts in floors, so that a slower machine has the same budget', () => {
    const asked = budget({ verifyToken: 0.31 }, { unit: 'floor' });
    const slower = stairsFixture();
    for (const { micros } of slower.stages) {
      for (const key of ['value', 'low', 'high'] as const) micros[key] *= 3;
    }
    assert.equal(checkBudget(slower, asked, 'b').rows[0]!.status, 'unresolved');
    assert.equal(checkBudget(stairsFixture(), asked, 'b').rows[0]!.status, 'unresolved');
  });

  test('that a run writes, the same run keeps', async () => {
    const file = join(folder, 'written.json');
    await writeBudget(file, stairsFixture());
    const report = checkBudget(stairsFixture(), await readBudget(file), file);
    assert.ok(
      report.rows.every(({ status }) => status === 'within'),
      readFileSync(file, 'utf8'),
    );
  });

  test('says what is wrong with a file', async () => {
    const file = join(folder, 'bad.json');
    await assert.rejects(readBudget(join(folder, 'none.json')), /No budget at .*--write-budget/);
    writeFileSync(file, '{');
    await assert.rejects(readBudget(file), /is not JSON/);
    writeFileSync(file, '{"schema":1,"unit":"ms","stages":{}}');
    await assert.rejects(readBudget(file), {
      code: 'ERR_REDLINE_BUDGET',
      message: /bad\.json: unit/,
    });
  });

  test('prints a table for the pull request', () => {
    const result = stairsFixture();
    result.budget = checkBudget(result, budget({ verifyToken: 5, gone: 2 }), 'b.json');
    const table = renderMarkdown(stairsDocument(result));
    assert.match(table, /\*\*A stage is over its budget\.\*\*/);
    assert.match(
      table,
      /\| `verifyToken` \| 6\.0 \[5\.7, 6\.3\] \| 10 \| 0\.6 \| 5\.0 \| \*\*changed\*\* \| 6\.00 \/ 5\.00 \| \*\*over\*\* \| `src\/verifyToken\.js:12` \|/,
    );
    assert.match(table, /`gone`.*\*\*never reached\*\*/);
    const columns = table
      .split('\n')
      .filter((line) => line.startsWith('|'))
      .map((line) => line.split('|').length);
    assert.equal(new Set(columns).size, 1, table);
  });
});
